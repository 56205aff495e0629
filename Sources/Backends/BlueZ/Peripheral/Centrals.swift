#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The state of centrals that the daemon's objects do not show: pending ends, MTUs and expected connections.
struct Centrals: Sendable {
    /// The link and subscriptions of a central that seem to have ended; see ``PeripheralTimings/quiescence``.
    struct Leaving: Sendable {
        /// Whether the link seems to have ended, and all subscriptions with it.
        var isGone = false
        var isBonded = false
        /// The subscriptions that seem to have ended.
        var paths: Set<ObjectPath> = []
    }

    /// Centrals that a call named before their connection was reported.
    var expected: [ObjectPath: PeerID] = [:]
    var mtus: [PeerID: Int] = [:]
    /// Centrals that seem to have disconnected or unsubscribed, which is not reported yet.
    var leaving: [PeerID: Leaving] = [:]
}
#endif
