#if os(Linux)
import BluetoothBackend

/// The values that were passed to the daemon, and the central whose credit each of them uses.
///
/// Pure.
struct CreditLedger: Sendable {
    /// A central's credits with a manager, from its first subscription to the end of its last.
    struct Session: Hashable, Sendable {
        let manager: HostLedger.Manager
        let peer: PeerID
        let number: UInt64
    }

    /// The number of values that one central may have on their way to the daemon.
    static let limit = 20

    /// Values that were broadcast since the last round trip began.
    private var unacknowledged: [Session: Int] = [:]
    private var isRoundTripPending = false
    /// Values that were passed to a socket, which has not sent them.
    private var unsent: [SocketID: (session: Session, count: Int)] = [:]

    // MARK: Broadcasts

    mutating func broadcast(for session: Session) { unacknowledged[session, default: 0] += 1 }

    /// Begins a round trip to the daemon, if values were broadcast since the last one.
    ///
    /// - Returns: The values that the round trip acknowledges.
    mutating func beginRoundTrip() -> [Session: Int]? {
        guard !isRoundTripPending, !unacknowledged.isEmpty else { return nil }
        isRoundTripPending = true
        return exchange(&unacknowledged, with: [:])
    }

    mutating func endRoundTrip() { isRoundTripPending = false }

    /// Drops the unacknowledged values after a loss of power.
    mutating func forgetBroadcasts() { unacknowledged = [:] }

    // MARK: Sockets

    mutating func send(on socket: SocketID, for session: Session) { unsent[socket, default: (session, 0)].count += 1 }

    mutating func sent(_ count: Int, on socket: SocketID) {
        if let left = unsent[socket]?.count { unsent[socket]?.count = max(0, left - count) }
    }

    /// Removes a socket.
    ///
    /// - Returns: The credits of its unsent values.
    mutating func close(_ socket: SocketID) -> [Session: Int] {
        guard let (session, count) = unsent.removeValue(forKey: socket), count > 0 else { return [:] }
        return [session: count]
    }
}
#endif
