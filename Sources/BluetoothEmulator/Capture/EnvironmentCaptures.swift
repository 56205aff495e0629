import BluetoothCapture
import BluetoothSupport
import Logging

/// The captures that `COREBLUETOOTH_CAPTURE` asks for: one for each emulator with managers, until the process exits.
enum EnvironmentCaptures {
    private struct State {
        var emulators = ObservedEmulators()
        /// These retain their emulators.
        var captures: [EmulatorCapture] = []
    }

    static let file = ProcessInfo.processInfo.environment["COREBLUETOOTH_CAPTURE"].flatMap {
        $0.isEmpty ? nil : $0
    }
    private static let state = Lock(State())

    /// Begins the capture of an emulator that gets a manager.
    static func begin(_ emulator: Emulator) {
        guard let file else { return }
        guard let number = state.withLock({ $0.emulators.insert(emulator) }) else { return }
        do throws(CaptureError) {
            let capture = try emulator.capture(to: name(file, number))
            state.withLock { $0.captures.append(capture) }
        } catch {
            Logger(label: "CoreBluetooth").error("no capture: COREBLUETOOTH_CAPTURE: \(error)")
        }
    }

    /// The file's name; those of later emulators have a number before the extension: `air-2.pcapng`.
    static func name(_ file: String, _ number: Int) -> String {
        guard number > 1 else { return file }
        let folder = file.lastIndex(of: "/").map { file.index(after: $0) } ?? file.startIndex
        guard let dot = file[folder...].lastIndex(of: "."), dot > folder else { return "\(file)-\(number)" }
        return "\(file[..<dot])-\(number)\(file[dot...])"
    }
}

/// The emulators that a setting of the environment observes: the first hundred with managers.
struct ObservedEmulators {
    private static let limit = 100
    private var emulators: Set<ObjectIdentifier> = []

    /// Adds an emulator.
    ///
    /// - Returns: Its number, from 1; nil for one that was added before, and where there are too many.
    mutating func insert(_ emulator: Emulator) -> Int? {
        let isNew = emulators.count < Self.limit && emulators.insert(ObjectIdentifier(emulator)).inserted
        return isNew ? emulators.count : nil
    }
}
