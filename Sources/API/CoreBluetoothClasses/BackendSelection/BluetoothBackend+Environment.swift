import BluetoothBackend
import BluetoothTracing

#if Emulator
import BluetoothCapture
import BluetoothEmulator
import BluetoothInstrumentation
import BluetoothRecording
#else
import Foundation
import BluetoothSupport
import Logging
#endif

extension BluetoothBackend {
    /// The backend with the trace, the faults and the recordings that the environment requests; captures begin with its
    /// managers.
    ///
    /// The trace shows what the app sees, the recordings what the devices did.
    var wrappedAsAsked: any BluetoothBackend {
        #if Emulator
        EnvironmentCaptures.begin()
        reportUncaptured()
        return EnvironmentTrace.traced(EnvironmentFaults.faulty(EnvironmentRecordings.recorded(self)))
        #else
        IgnoredVariables.report
        return EnvironmentTrace.traced(self)
        #endif
    }

    /// Logs that this backend is not captured, if it is no emulator and the environment requests a capture.
    func reportUncaptured() {
        #if Emulator
        guard name != Emulator.backendName, name != AutomaticBackend.undecidedName else { return }
        EnvironmentCaptures.reportUncaptured()
        #endif
    }
}

#if !Emulator
/// The environment variables that only a program with the emulator follows.
private enum IgnoredVariables {
    /// Logs a line for each variable that is set; evaluated once.
    static let report: Void = {
        let remedies: KeyValuePairs = [
            "COREBLUETOOTH_CAPTURE": "; \"sudo btmon --write FILE\" captures the packets of an adapter",
            "COREBLUETOOTH_FAULTS": "",
            "COREBLUETOOTH_RECORD": "",
        ]
        for (name, remedy) in remedies where ProcessInfo.processInfo.environment[name]?.isEmpty == false {
            Logger(label: "CoreBluetooth").line(
                .error, "\(name) is ignored: the program was built without the trait Emulator\(remedy)")
        }
    }()
}
#endif
