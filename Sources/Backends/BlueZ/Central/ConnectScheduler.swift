#if os(Linux)
import BluetoothBackend

/// The peers to connect to: all at once up to a limit, each tried again until the connect is cancelled.
///
/// Pure.
///
/// The kernel connects to whichever of the peers it hears first.
///
/// BlueZ pitfall: of two concurrent connects, one failed (https://github.com/hbldh/bleak/issues/1036, of 2022). It did
/// not on BlueZ 5.66 and later with Linux 6.1 and later (RunningOnRealHardware). If the daemon refuses a connect as
/// busy while others are in flight, connects are made one at a time until that one has been tried alone.
struct ConnectScheduler: Sendable {
    /// The greatest number of calls of `Connect` in flight.
    ///
    /// It is half of the replies for which the system bus lets one client wait (`max_replies_per_connection`, 128); the
    /// other half is for the operations on links.
    static let maximumInFlight = 64

    private enum Phase: Sendable {
        /// Ready to be connected to.
        case waiting
        /// Its `Connect` is in flight.
        case inFlight
        /// Without an object; a scan makes BlueZ export one again.
        case absent
        /// Failed, and pausing before the next attempt.
        case pausing
        /// An earlier link is going down, or may be.
        case closing
    }

    private struct PendingConnect: Sendable {
        let peer: PeerID
        var phase: Phase
        var failures = 0
        var busyInARow = 0
        /// Whether the daemon has refused the last attempt as busy while others were in flight.
        var mustBeAlone = false
    }

    private var connects: [PendingConnect] = []
    /// The peers whose `Connect` is in flight, in the order of the calls.
    private var inFlight: [PeerID] = []
    /// Peers whose `Connect` succeeded, but whose `Connected` is not known to be true.
    var unconfirmed: Set<PeerID> = []

    /// Whether a connect to a peer is pending, in any phase.
    func contains(_ peer: PeerID) -> Bool { isInFlight(peer) || connects.contains { $0.peer == peer } }

    /// Whether a peer's `Connect` is in flight, wanted or cancelled.
    func isInFlight(_ peer: PeerID) -> Bool { inFlight.contains(peer) }

    /// Whether any `Connect` is in flight.
    var hasInFlight: Bool { !inFlight.isEmpty }

    /// Whether any connect is pending or in flight.
    var hasAny: Bool { hasInFlight || !connects.isEmpty }

    /// Whether a scan must find peers: one is absent, or has failed and may lose its object.
    ///
    /// BlueZ pitfall: the object of an unknown device lives for 30 s and vanishes between two attempts, or when
    /// discovery stops (https://github.com/bluez/bluez/issues/1521, https://github.com/bluez/bluez/issues/1269).
    var needsScan: Bool { connects.contains { $0.phase == .absent || $0.failures > 0 } }

    /// The peer that has been connected to for the longest time, if another one waits for the end of a connect.
    var blocking: PeerID? {
        guard inFlight.count >= limit, connects.contains(where: { $0.phase == .waiting }) else { return nil }
        return inFlight.first
    }

    private var limit: Int { connects.contains(where: \.mustBeAlone) ? 1 : Self.maximumInFlight }

    /// Adds a peer at the end; it may be one whose `Connect` in flight was cancelled and is wanted again.
    mutating func add(_ peer: PeerID, isClosing: Bool) {
        guard !connects.contains(where: { $0.peer == peer }) else { return }
        let phase = isInFlight(peer) ? Phase.inFlight : isClosing ? .closing : .waiting
        connects.append(PendingConnect(peer: peer, phase: phase))
    }

    /// Removes a peer; its `Connect` in flight counts until it ends.
    ///
    /// - Returns: Whether its `Connect` is in flight and must be cancelled.
    mutating func remove(_ peer: PeerID) -> Bool {
        connects.removeAll { $0.peer == peer }
        return isInFlight(peer)
    }

    /// Returns the next peer to connect to, whose `Connect` is then in flight.
    mutating func next(hasObject: (PeerID) -> Bool) -> PeerID? {
        guard inFlight.count < limit else { return nil }
        for index in connects.indices where connects[index].phase == .waiting {
            guard hasObject(connects[index].peer) else {
                connects[index].phase = .absent
                continue
            }
            connects[index].phase = .inFlight
            inFlight.append(connects[index].peer)
            return connects[index].peer
        }
        return nil
    }

    /// Handles that a peer's object was added.
    mutating func becameReady(_ peer: PeerID) { wait(peer, after: .absent) }

    /// Handles that an earlier link is down.
    mutating func linkEnded(_ peer: PeerID) { wait(peer, after: .closing) }

    /// Handles the end of a pause.
    mutating func pauseOver(_ peer: PeerID) { wait(peer, after: .pausing) }

    private mutating func wait(_ peer: PeerID, after phase: Phase) {
        guard let index = connects.firstIndex(where: { $0.peer == peer && $0.phase == phase }) else { return }
        connects[index].phase = .waiting
    }

    /// Ends a connect in flight: the peer is connected, cannot be connected to, or is no longer wanted.
    mutating func finish(_ peer: PeerID) {
        connects.removeAll { $0.peer == peer }
        inFlight.removeAll { $0 == peer }
    }

    /// Ends a connect in flight as failed; it is tried again after all that wait.
    ///
    /// - Returns: The number of its failures; nil if it is no longer wanted.
    mutating func fail(_ peer: PeerID, isBusy: Bool) -> (failures: Int, busyInARow: Int)? {
        inFlight.removeAll { $0 == peer }
        guard let index = connects.firstIndex(where: { $0.peer == peer }) else { return nil }
        var pending = connects.remove(at: index)
        pending.failures += 1
        pending.busyInARow = isBusy ? pending.busyInARow + 1 : 0
        pending.mustBeAlone = isBusy && hasInFlight
        pending.phase = .pausing
        connects.append(pending)
        return (pending.failures, pending.busyInARow)
    }

    /// Ends a connect in flight because the peer has no object.
    mutating func lostObject(_ peer: PeerID) {
        inFlight.removeAll { $0 == peer }
        guard let index = connects.firstIndex(where: { $0.peer == peer }) else { return }
        connects[index].mustBeAlone = false
        connects[index].phase = .absent
    }

    /// Removes all connects.
    mutating func reset() { self = ConnectScheduler() }
}
#endif
