import BluetoothBackend
import BluetoothLocking
import Foundation
import Synchronization

/// The channels of a manager, for the thread that delivers what comes over them.
///
/// An entry lasts from the event that opens the channel until the channel's object is released. The lock is a leaf.
final class ChannelTable: Sendable {
    /// What a channel ends with.
    enum Origin: Equatable {
        /// The link that a central manager opened it on.
        case link(LinkID)
        /// The number that a peripheral manager published.
        case psm(UInt16)
    }

    private struct Entry {
        let origin: Origin
        let core: ChannelCore
    }

    private let entries = Lock<[ChannelID: Entry]>([:])

    subscript(id: ChannelID) -> ChannelCore? { entries.withLock { $0[id]?.core } }

    /// Takes in a channel that is up, before anything comes over it.
    ///
    /// - Parameters:
    ///   - origin: What it ends with.
    ///   - submit: Takes commands to the radio.
    func open(
        _ id: ChannelID, from origin: Origin, credits: Int,
        submit: @escaping @Sendable (ChannelMachine.Command) -> Void
    ) {
        let core = ChannelCore(credits: credits) { [weak self] command in
            if command == .close { self?.remove(id) }
            submit(command)
        }
        entries.withLock { $0[id] = Entry(origin: origin, core: core) }
    }

    /// The object of a channel is gone, or nobody takes the channel.
    func release(_ id: ChannelID) {
        self[id]?.release()
        remove(id)
    }

    /// A link is over, and what is open on it.
    func end(on link: LinkID) {
        for core in cores(where: { $0.origin == .link(link) }) { core.endRemotely() }
    }

    /// A number is taken back, and its channels are closed (S154).
    func shutDown(psm: UInt16) {
        for core in cores(where: { $0.origin == .psm(psm) }) { core.shutDown() }
    }

    /// All links are over.
    func endAll() {
        for core in cores(where: { _ in true }) { core.endRemotely() }
    }

    private func cores(where isWanted: (Entry) -> Bool) -> [ChannelCore] {
        entries.withLock { entries in entries.values.filter(isWanted).map(\.core) }
    }

    private func remove(_ id: ChannelID) {
        let removed = entries.withLock { $0.removeValue(forKey: id) }
        _ = removed
    }
}
