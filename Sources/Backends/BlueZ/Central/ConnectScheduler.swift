#if os(Linux)
import BluetoothBackend

/// The peers to connect to: all at once up to a limit, each tried again until the connect is cancelled.
///
/// Pure.
///
/// The kernel connects to whichever of the peers it hears first, so none delays the others.
///
/// BlueZ pitfall: of two concurrent connects, one failed as busy (https://github.com/hbldh/bleak/issues/1036, of 2022).
/// None did on BlueZ 5.66 with Linux 6.1 and BlueZ 5.82 with Linux 6.12. A peer that the daemon refuses as busy is tried
/// alone.
///
/// BlueZ pitfall: a cancel while others are in flight may leave these kernels with a connect that never ends and that
/// prevents all others (RunningOnRealHardware). Only a connect that is alone in flight is cancelled; any other ends by
/// itself, when its link is made or after the 40 s of the kernel.
struct ConnectScheduler: Sendable {
    /// The greatest number of calls of `Connect` in flight.
    ///
    /// It is half of the replies for which the system bus lets one client wait (`max_replies_per_connection`, 128); the
    /// other half is for the operations on links.
    static let maximumInFlight = 64
    /// The number of refusals as busy in a row after which the connect that keeps the daemon busy is cancelled.
    static let busyLimit = 3

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
        /// Whether the next attempt is made while no other is in flight.
        var mustBeAlone: Bool { (1..<ConnectScheduler.busyLimit).contains(busyInARow) }

        mutating func becomeAbsent() {
            phase = .absent
            busyInARow = 0
        }
    }

    private var connects: [PendingConnect] = []
    /// The peers whose `Connect` is in flight, wanted or not.
    private var inFlight: Set<PeerID> = []
    /// The peer whose `Connect` in flight is being cancelled.
    private var cancelled: PeerID?
    /// Peers whose `Connect` succeeded, but whose `Connected` is not known to be true.
    var unconfirmed: Set<PeerID> = []

    /// Whether a connect to a peer is pending, in any phase.
    func contains(_ peer: PeerID) -> Bool { isInFlight(peer) || connects.contains { $0.peer == peer } }

    /// Whether a peer's `Connect` is in flight, wanted or not.
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

    /// Adds a peer at the end; it may be one whose `Connect` is still in flight and is wanted again.
    mutating func add(_ peer: PeerID, isClosing: Bool) {
        guard !connects.contains(where: { $0.peer == peer }) else { return }
        let phase = isInFlight(peer) ? Phase.inFlight : isClosing ? .closing : .waiting
        connects.append(PendingConnect(peer: peer, phase: phase))
    }

    /// Removes a peer; its `Connect` in flight counts until it ends.
    mutating func remove(_ peer: PeerID) { connects.removeAll { $0.peer == peer } }

    /// Returns the peer whose `Connect` is to be cancelled, if any: it is not wanted, and no other is in flight.
    mutating func nextToCancel() -> PeerID? {
        guard inFlight.count == 1, cancelled == nil, let peer = inFlight.first,
            !connects.contains(where: { $0.peer == peer })
        else { return nil }
        cancelled = peer
        return peer
    }

    /// Returns the next peer to connect to, whose `Connect` is then in flight.
    mutating func next(hasObject: (PeerID) -> Bool) -> PeerID? {
        guard cancelled == nil else { return nil }
        let limit = connects.contains(where: \.mustBeAlone) ? 1 : Self.maximumInFlight
        guard inFlight.count < limit else { return nil }
        for index in connects.indices where connects[index].phase == .waiting {
            guard hasObject(connects[index].peer) else {
                connects[index].becomeAbsent()
                continue
            }
            connects[index].phase = .inFlight
            inFlight.insert(connects[index].peer)
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
        remove(peer)
        end(peer)
    }

    /// Ends a connect in flight as failed; it is tried again after all that wait.
    ///
    /// - Returns: The number of its failures; nil if it is no longer wanted.
    mutating func fail(_ peer: PeerID, isBusy: Bool) -> (failures: Int, busyInARow: Int)? {
        end(peer)
        guard let index = connects.firstIndex(where: { $0.peer == peer }) else { return nil }
        var pending = connects.remove(at: index)
        pending.failures += 1
        pending.busyInARow = isBusy ? pending.busyInARow + 1 : 0
        pending.phase = .pausing
        connects.append(pending)
        return (pending.failures, pending.busyInARow)
    }

    /// Ends a connect in flight because the peer has no object.
    mutating func lostObject(_ peer: PeerID) {
        end(peer)
        guard let index = connects.firstIndex(where: { $0.peer == peer }) else { return }
        connects[index].becomeAbsent()
    }

    private mutating func end(_ peer: PeerID) {
        inFlight.remove(peer)
        if cancelled == peer { cancelled = nil }
    }

    /// Removes all connects.
    mutating func reset() { self = ConnectScheduler() }
}
#endif
