#if os(Linux)
import BluetoothBackend

/// The state of an app's central manager, preserved for the next process.
///
/// Links outlive their process, and ``PreservationStore`` writes this state to a file.
struct PreservedCentral: Codable, Equatable, Sendable {
    /// A peer with a link, or a pending connect.
    struct Peer: Codable, Equatable, Sendable {
        var id: PeerID
        /// The device's address, in the usual notation.
        var address: String
        var isRandom: Bool
        var name: String?
        var operation: OperationID
        var options: ConnectOptions
        /// Whether a `Connect` of this app made the link, so that it may end the link.
        var isOurs: Bool
        /// The subscribed characteristics: their paths below the device's.
        var notifying: [String]
    }

    /// The address of the adapter.
    var adapter: String
    var peers: [Peer] = []
    var scan: ScanParameters?

    var isEmpty: Bool { peers.isEmpty && scan == nil }
}
#endif
