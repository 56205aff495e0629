#if os(Linux)
import BluetoothBackend

/// The peers to connect to: one at a time, each tried again until the connect is cancelled.
///
/// Pure.
///
/// BlueZ pitfall: of two concurrent connects, one fails (https://github.com/hbldh/bleak/issues/1036).
struct ConnectScheduler: Sendable {
    private enum Phase: Sendable {
        /// Ready to be connected to.
        case waiting
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
    }

    private var connects: [PendingConnect] = []
    /// The peer whose `Connect` is in flight.
    private(set) var active: PeerID?
    /// Peers whose `Connect` succeeded, but whose `Connected` is not known to be true.
    var unconfirmed: Set<PeerID> = []

    /// Whether a connect to a peer is pending, in any phase.
    func contains(_ peer: PeerID) -> Bool { active == peer || connects.contains { $0.peer == peer } }

    /// Whether any connect is pending or in flight.
    var hasAny: Bool { active != nil || !connects.isEmpty }

    /// Whether a scan must find peers: one is absent, or has failed and may lose its object.
    ///
    /// BlueZ pitfall: the object of an unknown device lives for 30 s and vanishes between two attempts, or when
    /// discovery stops (https://github.com/bluez/bluez/issues/1521, https://github.com/bluez/bluez/issues/1269).
    var needsScan: Bool { connects.contains { $0.phase == .absent || $0.failures > 0 } }

    /// Whether another peer is ready to be connected to.
    var hasOthersWaiting: Bool { connects.contains { $0.peer != active && $0.phase == .waiting } }

    /// Adds a peer at the end; it may be one whose `Connect` in flight was cancelled and is wanted again.
    mutating func add(_ peer: PeerID, isClosing: Bool) {
        guard !connects.contains(where: { $0.peer == peer }) else { return }
        connects.append(PendingConnect(peer: peer, phase: isClosing ? .closing : .waiting))
    }

    /// Removes a peer; a `Connect` in flight stays active until it ends.
    ///
    /// - Returns: Whether its `Connect` is in flight and must be cancelled.
    mutating func remove(_ peer: PeerID) -> Bool {
        connects.removeAll { $0.peer == peer }
        return active == peer
    }

    /// Returns the next peer to connect to, and makes it active.
    mutating func next(hasObject: (PeerID) -> Bool) -> PeerID? {
        guard active == nil else { return nil }
        for index in connects.indices where connects[index].phase == .waiting {
            guard hasObject(connects[index].peer) else {
                connects[index].phase = .absent
                continue
            }
            active = connects[index].peer
            return active
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

    /// Ends the active connect: the peer is connected, cannot be connected to, or is no longer wanted.
    mutating func finish() {
        connects.removeAll { $0.peer == active }
        active = nil
    }

    /// Ends the active connect as failed; it is tried again after all others.
    ///
    /// - Returns: The number of its failures; nil if it is no longer wanted.
    mutating func fail(isBusy: Bool) -> (failures: Int, busyInARow: Int)? {
        defer { active = nil }
        guard let index = connects.firstIndex(where: { $0.peer == active }) else { return nil }
        var pending = connects.remove(at: index)
        pending.failures += 1
        pending.busyInARow = isBusy ? pending.busyInARow + 1 : 0
        pending.phase = .pausing
        connects.append(pending)
        return (pending.failures, pending.busyInARow)
    }

    /// Ends the active connect because the peer has no object.
    mutating func lostObject() {
        if let index = connects.firstIndex(where: { $0.peer == active }) { connects[index].phase = .absent }
        active = nil
    }

    /// Removes all connects.
    mutating func reset() { self = ConnectScheduler() }
}
#endif
