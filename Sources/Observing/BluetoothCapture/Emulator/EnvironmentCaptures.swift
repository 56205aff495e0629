import BluetoothEmulator
import BluetoothSupport
import Logging

/// The captures for `COREBLUETOOTH_CAPTURE`: one for each emulator with managers, until the process exits.
///
/// ``begin()`` is called before the first manager of a program is created.
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

    /// Captures from now on each emulator that has a first manager, if the environment requests it.
    package static func begin() { _ = observing }

    private static let observing: Void = {
        if let file { EmulatorObservers.add { capture($0, to: file) } }
    }()

    private static func capture(_ emulator: Emulator, to file: String) {
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
