#if os(Linux)
import BluetoothBackend

/// What an app's central manager has, for the process that comes after this one.
///
/// Links outlive their process, and so does this: in a file, which ``PreservationStore`` writes.
struct PreservedCentral: Codable, Equatable, Sendable {
    /// A peer with a link, or a pending connect.
    struct Peer: Codable, Equatable, Sendable {
        var id: PeerID
        /// The device's address, as people write it.
        var address: String
        var isRandom: Bool
        var name: String?
        var operation: OperationID
        var options: ConnectOptions
        /// Whether our `Connect` made the link, so that it is ours to end.
        var isOurs: Bool
        /// The characteristics that are subscribed: their paths below the device's.
        var notifying: [String]
    }

    /// The address of the adapter that all this is about.
    var adapter: String
    var peers: [Peer] = []
    var scan: ScanParameters?

    var isEmpty: Bool { peers.isEmpty && scan == nil }
}
#endif
