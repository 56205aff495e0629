import BluetoothEmulator
import Foundation

/// The settings of the process's environment for worlds of its own.
struct MockEnvironment {
    /// `COREBLUETOOTH_MOCK_TIME`: `real`, or how many times faster than real time the world runs.
    let time: EmulatorTime?
    /// `COREBLUETOOTH_MOCK_SEED`: a number, from which all chance follows.
    let seed: UInt64?

    /// Reads an environment; what is not understood is logged and ignored.
    init(_ variables: [String: String]) {
        time = Self.read("COREBLUETOOTH_MOCK_TIME", variables) { text in
            if text == "real" { return .real }
            return Double(text).flatMap { $0 > 0 && $0.isFinite ? .scaled(by: $0) : nil }
        }
        seed = Self.read("COREBLUETOOTH_MOCK_SEED", variables) { UInt64($0) }
    }

    /// The process's own, read now.
    static var process: MockEnvironment { MockEnvironment(ProcessInfo.processInfo.environment) }

    private static func read<Value>(
        _ name: String, _ variables: [String: String], _ parse: (String) -> Value?
    ) -> Value? {
        guard let text = variables[name], !text.isEmpty else { return nil }
        let value = parse(text)
        if value == nil { log.warning("\(name) is \"\(text)\", which is not understood, and is ignored") }
        return value
    }
}
