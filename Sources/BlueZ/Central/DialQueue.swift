#if os(Linux)
import BluetoothBackend

/// Whom to connect to: one at a time, each again until it is taken back.
///
/// Pure.
///
/// BlueZ pitfall: two connects at once fail (https://github.com/hbldh/bleak/issues/1036).
struct DialQueue: Sendable {
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

    private struct Dial: Sendable {
        let peer: PeerID
        var phase: Phase
        var failures = 0
        var busyInARow = 0
    }

    private var dials: [Dial] = []
    /// Whose `Connect` is in flight.
    private(set) var active: PeerID?

    /// Whether a peer is waited for, in whichever phase.
    func contains(_ peer: PeerID) -> Bool { active == peer || dials.contains { $0.peer == peer } }

    /// Whether to look for peers: one is absent, or has failed and may lose its object.
    ///
    /// BlueZ pitfall: the object of an unknown device lives for 30 s and vanishes between two attempts, or when
    /// discovery stops (https://github.com/bluez/bluez/issues/1521, https://github.com/bluez/bluez/issues/1269).
    var needsScan: Bool { dials.contains { $0.phase == .absent || $0.failures > 0 } }

    /// Whether somebody else could be dialled now.
    var hasOthersWaiting: Bool { dials.contains { $0.peer != active && $0.phase == .waiting } }

    /// Adds a peer at the end; also one whose `Connect` in flight was taken back, and is wanted again.
    mutating func add(_ peer: PeerID, isClosing: Bool) {
        guard !dials.contains(where: { $0.peer == peer }) else { return }
        dials.append(Dial(peer: peer, phase: isClosing ? .closing : .waiting))
    }

    /// Takes a peer out, unless its `Connect` is in flight: that ends first.
    ///
    /// - Returns: Whether its `Connect` is in flight and must be cancelled.
    mutating func remove(_ peer: PeerID) -> Bool {
        dials.removeAll { $0.peer == peer }
        return active == peer
    }

    /// Whose turn it is, given who has an object; that peer is active from now on.
    mutating func next(hasObject: (PeerID) -> Bool) -> PeerID? {
        guard active == nil else { return nil }
        for index in dials.indices where dials[index].phase == .waiting {
            guard hasObject(dials[index].peer) else {
                dials[index].phase = .absent
                continue
            }
            active = dials[index].peer
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
        guard let index = dials.firstIndex(where: { $0.peer == peer && $0.phase == phase }) else { return }
        dials[index].phase = .waiting
    }

    /// The active connect is over: the peer is connected, hopeless, or nobody waits for it any more.
    mutating func finish() {
        dials.removeAll { $0.peer == active }
        active = nil
    }

    /// The active connect failed, and is to be tried again after all others.
    ///
    /// - Returns: How many times it has failed, or nil where nobody waits for it any more.
    mutating func fail(isBusy: Bool) -> (failures: Int, busyInARow: Int)? {
        defer { active = nil }
        guard let index = dials.firstIndex(where: { $0.peer == active }) else { return nil }
        var dial = dials.remove(at: index)
        dial.failures += 1
        dial.busyInARow = isBusy ? dial.busyInARow + 1 : 0
        dial.phase = .pausing
        dials.append(dial)
        return (dial.failures, dial.busyInARow)
    }

    /// The active connect found no object.
    mutating func lostObject() {
        if let index = dials.firstIndex(where: { $0.peer == active }) { dials[index].phase = .absent }
        active = nil
    }

    /// Forgets all.
    mutating func reset() { self = DialQueue() }
}
#endif
