/// Names an entity of the world: a place in its table, and a number that no later entity in that place has.
struct Ref<Element>: Hashable, Sendable, Comparable {
    let slot: UInt32
    let serial: UInt32

    /// Both in one integer, as `HostLedger` numbers managers.
    var packed: Int { Int(bitPattern: UInt(serial) << 32 | UInt(slot)) }

    /// Orders by insertion.
    static func < (left: Ref, right: Ref) -> Bool { left.serial < right.serial }
}

extension Ref {
    init(packed: Int) {
        let bits = UInt(bitPattern: packed)
        self.init(slot: UInt32(truncatingIfNeeded: bits), serial: UInt32(truncatingIfNeeded: bits >> 32))
    }
}

/// Entities by ``Ref``: in place, without hashing, and blind for those that are gone.
///
/// A value, copied with its first change. What is read is read where it is: an array would copy an element, and so retain
/// all that it holds, to give one of its fields.
struct SlotTable<Element: Sendable>: Sendable {
    private var slots = Slots<Element>(capacity: 8)
    private var free: [UInt32] = []
    private var lastSerial: UInt32 = 0
    /// No place was used a second time, so places are in the order of insertion.
    private var isOrdered = true
    private(set) var count = 0

    /// All entities, in the order of insertion.
    var refs: [Ref<Element>] {
        let living = Array(refsInAnyOrder)
        return isOrdered ? living : living.sorted()
    }

    /// All entities, to look for one without a list of all.
    var refsInAnyOrder: some Sequence<Ref<Element>> {
        let slots = slots
        return (1..<slots.count).lazy.filter { slots.entries[$0].serial != 0 }
            .map { Ref(slot: UInt32($0 - 1), serial: slots.entries[$0].serial) }
    }

    /// The entity, nil if it was removed.
    ///
    /// To be changed with optional chaining only, never assigned: ``insert(_:)`` and ``remove(_:)`` do that.
    subscript(ref: Ref<Element>) -> Element? {
        _read { yield slots.entries[slots.place(of: ref)].value }
        _modify {
            makeUnique()
            yield &slots.entries[slots.place(of: ref)].value
        }
    }

    mutating func insert(_ element: Element) -> Ref<Element> {
        lastSerial += 1
        let ref = Ref<Element>(slot: free.last ?? UInt32(slots.count - 1), serial: lastSerial)
        count += 1
        if free.popLast() != nil {
            isOrdered = false
            makeUnique()
            slots.entries[Int(ref.slot) + 1] = Slots.Entry(serial: ref.serial, value: element)
        } else {
            if slots.count == slots.capacity {
                // By a quarter, not to twice the size: the elements are large, and their number is mostly constant.
                slots = Slots(copying: slots, capacity: slots.count + slots.count / 4 + 8)
            } else {
                makeUnique()
            }
            slots.append(Slots.Entry(serial: ref.serial, value: element))
        }
        return ref
    }

    @discardableResult
    mutating func remove(_ ref: Ref<Element>) -> Element? {
        let place = slots.place(of: ref)
        guard let element = slots.entries[place].value else { return nil }
        makeUnique()
        slots.entries[place] = Slots.Entry(serial: 0, value: nil)
        free.append(ref.slot)
        count -= 1
        return element
    }

    func contains(_ ref: Ref<Element>) -> Bool { slots.place(of: ref) != 0 }

    private mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&slots) { slots = Slots(copying: slots, capacity: slots.capacity) }
    }
}

/// The places of a ``SlotTable``.
// Invariant of `@unchecked`: changed by a table that alone refers to it; otherwise only read.
private final class Slots<Element: Sendable>: @unchecked Sendable {
    struct Entry: Sendable {
        /// 0 where there is no entity, which is read without a copy of one.
        var serial: UInt32
        var value: Element?
    }

    let capacity: Int
    private(set) var count = 0
    let entries: UnsafeMutablePointer<Entry>

    /// The first place is always empty: references to removed entities lead to it.
    ///
    /// So every access yields a place of the table, without a temporary.
    init(capacity: Int) {
        self.capacity = capacity
        entries = .allocate(capacity: capacity)
        append(Entry(serial: 0, value: nil))
    }

    init(copying other: Slots, capacity: Int) {
        self.capacity = capacity
        entries = .allocate(capacity: capacity)
        entries.initialize(from: other.entries, count: other.count)
        count = other.count
    }

    deinit {
        entries.deinitialize(count: count)
        entries.deallocate()
    }

    /// There must be room.
    func append(_ entry: Entry) {
        (entries + count).initialize(to: entry)
        count += 1
    }

    /// The place of an entity; 0 if it was removed.
    func place(of ref: Ref<Element>) -> Int {
        let place = Int(ref.slot) + 1
        return place < count && entries[place].serial == ref.serial ? place : 0
    }
}
