import BluetoothBackend

/// The peripherals of a manager, by identifier, without keeping them alive (S29, S30).
///
/// A value under the core's lock. Loading a weak reference makes a strong one, which must end outside that lock.
struct PeripheralRegistry {
    private final class Entry {
        weak var peripheral: CBPeripheral?
        init(_ peripheral: CBPeripheral) { self.peripheral = peripheral }
    }

    private var entries: [PeerID: Entry] = [:]
    private var lastGeneration: UInt64 = 0
    /// The entry that was asked for last: mostly the next one, too.
    private var recent: (id: PeerID, entry: Entry)?

    subscript(id: PeerID) -> CBPeripheral? {
        mutating get {
            if let recent, recent.id == id { return recent.entry.peripheral }
            guard let entry = entries[id] else { return nil }
            recent = (id, entry)
            return entry.peripheral
        }
    }

    var living: [CBPeripheral] { entries.values.compactMap(\.peripheral) }

    /// Creates an object for a peer that has none.
    mutating func insert(_ id: PeerID, make: (PeerHandle) -> CBPeripheral) -> CBPeripheral {
        lastGeneration += 1
        let peripheral = make(PeerHandle(id: id, generation: lastGeneration))
        entries[id] = Entry(peripheral)
        recent = nil
        return peripheral
    }

    /// Forgets an object that is gone; a newer one stays.
    mutating func removeIfDead(_ id: PeerID) {
        guard entries[id]?.peripheral == nil else { return }
        entries[id] = nil
        recent = nil
    }

    mutating func remove(_ id: PeerID) -> CBPeripheral? {
        recent = nil
        return entries.removeValue(forKey: id)?.peripheral
    }

    mutating func removeAll() -> [CBPeripheral] {
        defer {
            entries = [:]
            recent = nil
        }
        return entries.values.compactMap(\.peripheral)
    }
}

/// The centrals of a peripheral manager, by identifier: one object for each as long as it is retained.
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
