import BluetoothBackend
import BluetoothTracing

#if Emulator
import BluetoothRecording
#endif

extension BluetoothBackend {
    /// The backend with the trace and the recordings that the environment asks for.
    var observedAsAsked: any BluetoothBackend {
        #if Emulator
        EnvironmentTrace.traced(EnvironmentRecordings.recorded(self))
        #else
        EnvironmentTrace.traced(self)
        #endif
    }
}
