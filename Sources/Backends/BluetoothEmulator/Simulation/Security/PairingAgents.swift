import BluetoothBackend

// The pairing managers of apps, which answer the questions of pairings.
extension Hosts {
    /// Whether a pairing manager is an agent of a host: of the host that it named, else of the hosts of managers that
    /// named none.
    private func represents(_ manager: Manager, for host: Int) -> Bool {
        guard manager.role == .pairing, manager.isActive, self[host].adapter.features.contains(.pairing) else {
            return false
        }
        return manager.host.map { $0 == host } ?? self[host].isUnnamedChoice
    }

    /// Returns the agents of a host; the last is the newest, which is the one asked.
    func agents(of host: Int) -> [SlotTable<Manager>.Entry] {
        managers.entries.filter { represents($0.element, for: host) }
    }

    /// Returns the hosts of which a manager is an agent.
    func represented(by ref: Ref<Manager>) -> [Int] {
        guard let manager = managers[ref] else { return [] }
        return indices.filter { represents(manager, for: $0) }
    }
}
