import BluetoothBackend
import BluetoothSupport
import DequeModule

/// The channels of a manager, for the thread that delivers their bytes.
///
/// An entry lasts from the event that opens the channel until the channel's object is released. The lock is a leaf.
final class ChannelTable: Sendable {
    /// The owner whose end closes a channel.
    enum Origin: Equatable {
        /// The link on which a central manager opened it.
        case link(LinkID)
        /// The number that a peripheral manager published.
        case psm(UInt16)
    }

    private struct Entry {
        let origin: Origin
        let core: ChannelCore
        /// Whether the channel has an object.
        var isClaimed = false
    }

    private struct State {
        var entries: [ChannelID: Entry] = [:]
        /// Channels that the other side closed before they had an object, in order; some have one since.
        var closedUnclaimed: Deque<ChannelID> = []
    }

    /// The most channels that are retained for the app after the other side has closed them.
    static let closedLimit = 64

    private let clock: any BackendClock
    private let state = Lock(State())

    /// Creates the table of a manager, whose clock waits for the events of the streams.
    init(clock: any BackendClock) { self.clock = clock }

    var count: Int { state.withLock { $0.entries.count } }

    subscript(id: ChannelID) -> ChannelCore? { state.withLock { $0.entries[id]?.core } }

    /// Returns the channel, for an object that will release it.
    func claim(_ id: ChannelID) -> ChannelCore? {
        state.withLock { state in
            state.entries[id]?.isClaimed = true
            return state.entries[id]?.core
        }
    }

    /// Keeps a channel that the other side has closed, with the bytes that it received, for an app that has not got it
    /// yet.
    ///
    /// Drops the oldest such channel beyond the limit.
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
    ///   - origin: The owner that the channel ends with.
    ///   - submit: Submits commands to the backend.
    func open(
        _ id: ChannelID, from origin: Origin, credits: Int,
        submit: @escaping @Sendable (ChannelCommand) -> Void
    ) {
        let core = ChannelCore(credits: credits, clock: clock) { [weak self] command in
            if command == .close { self?.remove(id) }
            submit(command)
        }
        state.withLock { $0.entries[id] = Entry(origin: origin, core: core) }
    }

    /// Removes a channel whose object is gone, or that got no object.
    func release(_ id: ChannelID) {
        self[id]?.transition { $0.release() }
        remove(id)
    }

    /// Ends all channels that are open on a link.
    func end(on link: LinkID) {
        for core in cores(where: { $0.origin == .link(link) }) { core.endWithLink() }
    }

    /// Closes the channels of an unpublished number (S154).
    func shutDown(psm: UInt16) {
        for core in cores(where: { $0.origin == .psm(psm) }) { core.transition { $0.shutDown() } }
    }

    /// Ends all channels, because all links are over.
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
