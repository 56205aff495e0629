#if os(Linux)
import BluetoothBackend

/// Whom to connect to: one at a time, each again until it is taken back.
///
/// Pure.
///
/// BlueZ pitfall: two connects at once fail (https://github.com/hbldh/bleak/issues/1036).
struct ConnectScheduler: Sendable {
    private enum Phase: Sendable {
        /// Its turn may come.
        case waiting
        /// Its object is gone; a scan brings it back.
        case absent
        /// It failed, and pauses.
        case pausing
        /// An earlier link is still going down, or may be.
        case closing
    }

    private struct PendingConnect: Sendable {
        let peer: PeerID
        var phase: Phase
        var failures = 0
        var busyInARow = 0
    }

    private var connects: [PendingConnect] = []
    /// Whose `Connect` is in flight.
    private(set) var active: PeerID?
    /// Peers whose `Connect` succeeded, but whose `Connected` is not known to be true.
    var unconfirmed: Set<PeerID> = []

    /// Whether a peer is waited for, in whichever phase.
    func contains(_ peer: PeerID) -> Bool { active == peer || connects.contains { $0.peer == peer } }

    /// Whether any peer is waited for, or connected to now.
    var hasAny: Bool { active != nil || !connects.isEmpty }

    /// Whether to look for peers: one is absent, or has failed and may lose its object.
    ///
    /// BlueZ pitfall: the object of an unknown device lives for 30 s and vanishes between two attempts, or when
    /// discovery stops (https://github.com/bluez/bluez/issues/1521, https://github.com/bluez/bluez/issues/1269).
    var needsScan: Bool { connects.contains { $0.phase == .absent || $0.failures > 0 } }

    /// Whether another peer could be connected to now.
    var hasOthersWaiting: Bool { connects.contains { $0.peer != active && $0.phase == .waiting } }

    /// Adds a peer at the end; also one whose `Connect` in flight was taken back, and is wanted again.
    mutating func add(_ peer: PeerID, isClosing: Bool) {
        guard !connects.contains(where: { $0.peer == peer }) else { return }
        connects.append(PendingConnect(peer: peer, phase: isClosing ? .closing : .waiting))
    }

    /// Takes a peer out, unless its `Connect` is in flight: that ends first.
    ///
    /// - Returns: Whether its `Connect` is in flight and must be cancelled.
    mutating func remove(_ peer: PeerID) -> Bool {
        connects.removeAll { $0.peer == peer }
        return active == peer
    }

    /// Whose turn it is, given who has an object; that peer is active from now on.
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

    /// An object appeared.
    mutating func becameReady(_ peer: PeerID) { wait(peer, after: .absent) }

    /// An earlier link is down.
    mutating func linkEnded(_ peer: PeerID) { wait(peer, after: .closing) }

    /// A pause is over.
    mutating func pauseOver(_ peer: PeerID) { wait(peer, after: .pausing) }

    private mutating func wait(_ peer: PeerID, after phase: Phase) {
        guard let index = connects.firstIndex(where: { $0.peer == peer && $0.phase == phase }) else { return }
        connects[index].phase = .waiting
    }

    /// The active connect is over: the peer is connected, hopeless, or no longer waited for.
    mutating func finish() {
        connects.removeAll { $0.peer == active }
        active = nil
    }

    /// The active connect failed, and is to be tried again after all others.
    ///
    /// - Returns: How many times it has failed, or nil where it is no longer waited for.
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

    /// The active connect found no object.
    mutating func lostObject() {
        if let index = connects.firstIndex(where: { $0.peer == active }) { connects[index].phase = .absent }
        active = nil
    }

    /// Forgets all.
    mutating func reset() { self = ConnectScheduler() }
}
#endif
