import BluetoothBackend
import BluetoothSupport
import DequeModule

/// The channels of a manager, for the thread that delivers what comes over them.
///
/// An entry lasts from the event that opens the channel until the channel's object is released. The lock is a leaf.
final class ChannelTable: Sendable {
    /// The owner whose end closes a channel.
    enum Origin: Equatable {
        /// The link that a central manager opened it on.
        case link(LinkID)
        /// The number that a peripheral manager published.
        case psm(UInt16)
    }

    private struct Entry {
        let origin: Origin
        let core: ChannelCore
        /// Whether there is an object for it.
        var isClaimed = false
    }

    private struct State {
        var entries: [ChannelID: Entry] = [:]
        /// Channels that the other side closed before there was an object for them, in order; some have one since.
        var closedUnclaimed: Deque<ChannelID> = []
    }

    /// The most channels that are retained for the app after the other side has closed them.
    static let closedLimit = 64

    private let state = Lock(State())

    var count: Int { state.withLock { $0.entries.count } }

    subscript(id: ChannelID) -> ChannelCore? { state.withLock { $0.entries[id]?.core } }

    /// The channel, for an object that will release it.
    func claim(_ id: ChannelID) -> ChannelCore? {
        state.withLock { state in
            state.entries[id]?.isClaimed = true
            return state.entries[id]?.core
        }
    }

    /// The other side has closed a channel: it is kept, with the bytes that came, for an app that is late.
    ///
    /// The oldest of too many such channels is dropped.
    ///
    /// - Returns: Whether the app has not got the channel yet.
    func retainsUnclaimed(_ id: ChannelID) -> Bool {
        let (isUnclaimed, dropped) = state.withLock { state -> (Bool, ChannelCore?) in
            guard let entry = state.entries[id], !entry.isClaimed else { return (false, nil) }
            state.closedUnclaimed.append(id)
            guard state.closedUnclaimed.count > Self.closedLimit, let oldest = state.closedUnclaimed.popFirst(),
                state.entries[oldest]?.isClaimed == false
            else { return (true, nil) }
            return (true, state.entries.removeValue(forKey: oldest)?.core)
        }
        withExtendedLifetime(dropped) {}
        return isUnclaimed
    }

    /// Adds an open channel, before anything is received on it.
    ///
    /// - Parameters:
    ///   - origin: What it ends with.
    ///   - submit: Submits commands to the backend.
    func open(
        _ id: ChannelID, from origin: Origin, credits: Int,
        submit: @escaping @Sendable (ChannelCommand) -> Void
    ) {
        let core = ChannelCore(credits: credits) { [weak self] command in
            if command == .close { self?.remove(id) }
            submit(command)
        }
        state.withLock { $0.entries[id] = Entry(origin: origin, core: core) }
    }

    /// The object of a channel is gone, or no object was created for it.
    func release(_ id: ChannelID) {
        self[id]?.transition { $0.release() }
        remove(id)
    }

    /// A link is over, and what is open on it.
    func end(on link: LinkID) {
        for core in cores(where: { $0.origin == .link(link) }) { core.endWithLink() }
    }

    /// A number is taken back, and its channels are closed (S154).
    func shutDown(psm: UInt16) {
        for core in cores(where: { $0.origin == .psm(psm) }) { core.transition { $0.shutDown() } }
    }

    /// All links are over.
    func endAll() {
        for core in cores(where: { _ in true }) { core.endWithLink() }
    }

    private func cores(where isWanted: (Entry) -> Bool) -> [ChannelCore] {
        state.withLock { state in state.entries.values.filter(isWanted).map(\.core) }
    }

    private func remove(_ id: ChannelID) {
        let removed = state.withLock { $0.entries.removeValue(forKey: id) }
        _ = removed
    }
}
