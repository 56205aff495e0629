import BluetoothCapture
import BluetoothSupport
import Logging

/// The captures for `COREBLUETOOTH_CAPTURE`: one for each emulator with managers, until the process exits.
package enum EnvironmentCaptures {
    private struct State {
        var emulators = ObservedEmulators()
        /// The captures, which retain their emulators.
        var captures: [EmulatorCapture] = []
    }

    private static let file = ProcessInfo.processInfo.environment["COREBLUETOOTH_CAPTURE"].flatMap {
        $0.isEmpty ? nil : $0
    }
    private static let state = Lock(State())

    /// Starts the capture of an emulator that has a first manager.
    static func begin(_ emulator: Emulator) {
        guard let file else { return }
        guard let number = state.withLock({ $0.emulators.insert(emulator) }) else { return }
        do throws(CaptureError) {
            let capture = try emulator.capture(to: OutputFile.name(file, number: number))
            state.withLock { $0.captures.append(capture) }
        } catch {
            Logger(label: "CoreBluetooth").line(.error, "no capture: COREBLUETOOTH_CAPTURE: \(error)")
        }
    }

    /// Logs once, if the environment requests a capture, that a manager's backend is not an emulator.
    package static func reportUncaptured() { _ = uncapturedReport }

    private static let uncapturedReport: Void = {
        guard file != nil else { return }
        Logger(label: "CoreBluetooth").line(
            .error,
            """
            no capture: COREBLUETOOTH_CAPTURE captures the packets of emulated adapters; "sudo btmon --write FILE" \
            captures those of a real one, and COREBLUETOOTH_TRACE=FILE traces the commands and events of any program
            """)
    }()
}

/// The emulators that a setting of the environment observes: the first hundred with managers.
struct ObservedEmulators {
    private static let limit = 100
    private var emulators: Set<ObjectIdentifier> = []

    /// Adds an emulator.
    ///
    /// - Returns: The emulator's number, from 1; nil if it was added before, or the limit is reached.
    mutating func insert(_ emulator: Emulator) -> Int? {
        let isNew = emulators.count < Self.limit && emulators.insert(ObjectIdentifier(emulator)).inserted
        return isNew ? emulators.count : nil
    }
}
