/// Names an entity of the world: a place in its table, and a number that no later entity in that place has.
struct Ref<Element>: Hashable, Sendable, Comparable {
    let slot: UInt32
    let serial: UInt32

    /// Both in one integer, as `HostLedger` numbers managers.
    var packed: Int { Int(bitPattern: UInt(serial) << 32 | UInt(slot)) }

    init(slot: UInt32, serial: UInt32) {
        self.slot = slot
        self.serial = serial
    }

    init(packed: Int) {
        let bits = UInt(bitPattern: packed)
        self.init(slot: UInt32(truncatingIfNeeded: bits), serial: UInt32(truncatingIfNeeded: bits >> 32))
    }

    /// Orders by birth.
    static func < (left: Ref, right: Ref) -> Bool { left.serial < right.serial }
}

/// Entities by ``Ref``: in place, without hashing, and blind for those that are gone.
struct SlotTable<Element: Sendable>: Sendable {
    private struct Entry: Sendable {
        var serial: UInt32
        var value: Element?
    }

    /// The first is nobody's and always empty: what those that are gone lead to.
    ///
    /// So an access yields a place of the table in every case, and needs no room of its own.
    private var entries = [Entry(serial: 0, value: nil)]
    private var free: [UInt32] = []
    private var lastSerial: UInt32 = 0
    /// No place was used a second time, so places are in the order of birth.
    private var isOrdered = true
    private(set) var count = 0

    /// The living, in the order of birth.
    var refs: [Ref<Element>] {
        let living = Array(refsInAnyOrder)
        return isOrdered ? living : living.sorted()
    }

    /// The living, one after the other, to look for one without a list of all.
    var refsInAnyOrder: some Sequence<Ref<Element>> {
        entries.indices.lazy.dropFirst().filter { entries[$0].value != nil }
            .map { Ref(slot: UInt32($0 - 1), serial: entries[$0].serial) }
    }

    /// The entity, nil if it is gone.
    ///
    /// To be changed with optional chaining only, never assigned: ``insert(_:)`` and ``remove(_:)`` do that.
    subscript(ref: Ref<Element>) -> Element? {
        _read { yield entries[place(of: ref)].value }
        _modify { yield &entries[place(of: ref)].value }
    }

    /// Where an entity is; 0 if it is gone.
    private func place(of ref: Ref<Element>) -> Int {
        let place = Int(ref.slot) + 1
        return place < entries.count && entries[place].serial == ref.serial ? place : 0
    }

    /// The reference that the next ``insert(_:)`` will return.
    var nextRef: Ref<Element> {
        Ref(slot: free.last ?? UInt32(entries.count - 1), serial: lastSerial + 1)
    }

    mutating func insert(_ element: Element) -> Ref<Element> {
        let ref = nextRef
        lastSerial += 1
        count += 1
        if free.popLast() != nil {
            isOrdered = false
            entries[Int(ref.slot) + 1] = Entry(serial: ref.serial, value: element)
        } else {
            // By a quarter, not to twice the room: the elements are large, and mostly many or few for good.
            if entries.count == entries.capacity { entries.reserveCapacity(entries.count + entries.count / 4 + 8) }
            entries.append(Entry(serial: ref.serial, value: element))
        }
        return ref
    }

    @discardableResult
    mutating func remove(_ ref: Ref<Element>) -> Element? {
        let place = place(of: ref)
        guard let element = entries[place].value else { return nil }
        entries[place].value = nil
        free.append(ref.slot)
        count -= 1
        return element
    }

    /// Whether the entity is alive.
    func contains(_ ref: Ref<Element>) -> Bool {
        entries[place(of: ref)].value != nil
    }
}
