package import BluetoothBackend
import BluetoothSupport
package import BluetoothTracing

/// Records the devices that the central managers of one or several wrappers connect to, at run time.
package final class RecordingObserver: Sendable {
    /// New lines of one device's recording.
    package struct Part: Sendable {
        package let peer: PeerID
        /// The name of the backend.
        package let backend: String
        package let lines: [DeviceRecorder.Line]
    }

    private let recorder: Lock<SessionRecorder>
    private let receive: @Sendable (Part) -> Void

    /// - Parameter receive: Receives new lines, in order; it must be quick.
    package init(keepsIdentity: Bool, _ receive: @escaping @Sendable (Part) -> Void) {
        recorder = Lock(SessionRecorder(keepsIdentity: keepsIdentity))
        self.receive = receive
    }

    /// Records messages in the order in which they passed.
    package func observe(_ messages: [ObservedMessage]) {
        recorder.withLock { recorder in
            for message in messages {
                recorder.add(message)
                for (peer, lines) in recorder.takeLines() {
                    receive(Part(peer: peer, backend: message.backend, lines: lines))
                }
            }
        }
    }
}
