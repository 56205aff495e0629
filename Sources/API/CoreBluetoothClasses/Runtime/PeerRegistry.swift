import BluetoothBackend

/// The peripherals of a manager, by identifier, without keeping them alive (S29, S30).
///
/// A value under the core's lock. Loading a weak reference makes a strong one, which must end outside that lock.
struct PeripheralRegistry {
    private struct Entry {
        let handle: PeerHandle
        let reference: WeakEntry<CBPeripheral>

        var object: CBPeripheral? { reference.object }
    }

    private var entries: [PeerID: Entry] = [:]
    private var lastGeneration: UInt64 = 0
    /// The entry that was looked up last, which is mostly the next one, too.
    private var recent: (id: PeerID, entry: Entry)?

    subscript(id: PeerID) -> CBPeripheral? {
        mutating get {
            if let recent, recent.id == id { return recent.entry.object }
            guard let entry = entries[id] else { return nil }
            recent = (id, entry)
            return entry.object
        }
    }

    var living: [CBPeripheral] { entries.values.compactMap(\.object) }

    /// Creates an object for a peer that has none.
    mutating func insert(_ id: PeerID, make: (PeerHandle) -> CBPeripheral) -> CBPeripheral {
        lastGeneration += 1
        let handle = PeerHandle(id: id, generation: lastGeneration)
        let peripheral = make(handle)
        entries[id] = Entry(handle: handle, reference: WeakEntry(peripheral))
        recent = nil
        return peripheral
    }

    /// Forgets a released object; a newer object of the same peer stays.
    mutating func remove(_ handle: PeerHandle) {
        guard entries[handle.id]?.handle == handle else { return }
        entries[handle.id] = nil
        recent = nil
    }

    mutating func remove(_ id: PeerID) -> CBPeripheral? {
        recent = nil
        return entries.removeValue(forKey: id)?.object
    }

    mutating func removeAll() -> [CBPeripheral] {
        defer {
            entries = [:]
            recent = nil
        }
        return entries.values.compactMap(\.object)
    }
}

/// The centrals of a peripheral manager, by identifier: one object for each as long as it is retained.
///
/// A value under the core's lock. Loading a weak reference there may deallocate a central there, which is harmless:
/// only this module creates centrals, so no subclass of ``CBCentral`` in an app has a `deinit` that would run.
struct CentralRegistry {
    private var entries: [PeerID: WeakEntry<CBCentral>] = [:]
    private var sweepAt = 32

    subscript(id: PeerID) -> CBCentral? { entries[id]?.object }

    /// Returns the object of a central, creating it if needed.
    mutating func central(_ id: PeerID, mtu: Int) -> CBCentral {
        if let known = self[id] { return known }
        let central = CBCentral(identifier: id.uuid, mtu: mtu)
        entries[id] = WeakEntry(central)
        if entries.count >= sweepAt {
            entries = entries.filter { $0.value.object != nil }
            sweepAt = max(32, 2 * entries.count)
        }
        return central
    }
}

private final class WeakEntry<Object: AnyObject> {
    weak var object: Object?
    init(_ object: Object) { self.object = object }
}
