import BluetoothBackend
import BluetoothTracing

#if Emulator
import BluetoothEmulator
import BluetoothRecording
#endif

extension BluetoothBackend {
    /// The backend with the trace, the recordings and the capture that the environment asks for.
    var observedAsAsked: any BluetoothBackend {
        #if Emulator
        EnvironmentTrace.traced(EnvironmentRecordings.recorded(EnvironmentSessionCapture.captured(self)))
        #else
        EnvironmentTrace.traced(self)
        #endif
    }
}
