import BluetoothEmulator
import Foundation

/// The settings of the process's environment for the process's worlds.
struct MockEnvironment {
    /// The value of `COREBLUETOOTH_MOCK_TIME`: `real`, or the speed of the world relative to real time.
    let time: EmulatorTime?
    /// The value of `COREBLUETOOTH_MOCK_SEED`: the seed of all random choices.
    let seed: UInt64?

    /// Reads an environment; logs and ignores invalid values.
    init(_ variables: [String: String]) {
        time = Self.read("COREBLUETOOTH_MOCK_TIME", variables) { text in
            if text == "real" { return .real }
            return Double(text).flatMap { $0 > 0 && $0.isFinite ? .scaled(by: $0) : nil }
        }
        seed = Self.read("COREBLUETOOTH_MOCK_SEED", variables) { UInt64($0) }
    }

    /// The environment of the process, read now.
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
