import BluetoothBackend

/// The centrals of a peripheral manager, by identifier: one object for each as long as somebody keeps it.
///
/// A value under the core's lock. Loading a weak reference there may end a central's life there, which is harmless: no
/// app can subclass ``CBCentral`` so that its `deinit` runs, as only this module makes them.
struct CentralRegistry {
    private final class Entry {
        weak var central: CBCentral?
        init(_ central: CBCentral) { self.central = central }
    }

    private var entries: [PeerID: Entry] = [:]
    private var sweepAt = 32

    /// The living object of a central.
    subscript(id: PeerID) -> CBCentral? { entries[id]?.central }

    /// The object of a central, made if there is none.
    mutating func central(_ id: PeerID, mtu: Int) -> CBCentral {
        if let known = self[id] { return known }
        let central = CBCentral(identifier: id.uuid, mtu: mtu)
        entries[id] = Entry(central)
        if entries.count >= sweepAt {
            entries = entries.filter { $0.value.central != nil }
            sweepAt = max(32, 2 * entries.count)
        }
        return central
    }
}
