import BluetoothBackend
import BluetoothTracing

#if Emulator
import BluetoothEmulator
import BluetoothRecording
#else
import Foundation
import BluetoothSupport
import Logging
#endif

extension BluetoothBackend {
    /// The backend with the trace and the recordings that the environment requests.
    var observedAsAsked: any BluetoothBackend {
        #if Emulator
        reportUncaptured()
        return EnvironmentTrace.traced(EnvironmentRecordings.recorded(self))
        #else
        IgnoredVariables.report
        return EnvironmentTrace.traced(self)
        #endif
    }

    /// Logs, if the environment requests a capture, that only emulators are captured, and this is none.
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
        for name in ["COREBLUETOOTH_CAPTURE", "COREBLUETOOTH_RECORD"]
        where ProcessInfo.processInfo.environment[name]?.isEmpty == false {
            Logger(label: "CoreBluetooth").line(
                .error, "\(name) is ignored: the program was built without the trait Emulator")
        }
    }()
}
#endif
