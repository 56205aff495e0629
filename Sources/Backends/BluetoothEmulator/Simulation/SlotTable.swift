/// A reference to an entity of the world: a slot in its table, and a serial number that is never reused.
struct Ref<Element>: Hashable, Sendable, Comparable {
    let slot: UInt32
    let serial: UInt32

    /// The slot and the serial number in one integer, which `HostLedger` uses as the number of a manager.
    var packed: Int { Int(bitPattern: UInt(serial) << 32 | UInt(slot)) }

    /// Compares the order of insertion.
    static func < (left: Ref, right: Ref) -> Bool { left.serial < right.serial }
}

extension Ref {
    /// Creates the reference to an entity that is kept in another table, in the same slot.
    init<Other>(_ other: Ref<Other>) { self.init(slot: other.slot, serial: other.serial) }

    init(packed: Int) {
        let bits = UInt(bitPattern: packed)
        self.init(slot: UInt32(truncatingIfNeeded: bits), serial: UInt32(truncatingIfNeeded: bits >> 32))
    }
}

/// Entities by ``Ref``, accessed in place and without hashing; a reference to a removed entity yields nil.
///
/// The table is a value, copied on its first change. Reads happen in place: an array would copy an element, and so
/// retain everything in it, to return one of its fields.
struct SlotTable<Element: Sendable>: Sendable {
    private var slots = Slots<Element>(capacity: 8)
    private var free: [UInt32] = []
    private var lastSerial: UInt32 = 0
    /// Whether no slot was reused, so slots are in the order of insertion.
    private var isOrdered = true
    private(set) var count = 0

    /// All entities, in the order of insertion.
    var refs: [Ref<Element>] {
        let living = Array(refsInAnyOrder)
        return isOrdered ? living : living.sorted()
    }

    /// All entities, for a search that needs no sorted list.
    var refsInAnyOrder: some Sequence<Ref<Element>> {
        let slots = slots
        return (1..<slots.count).lazy.filter { slots.entries[$0].serial != 0 }
            .map { Ref(slot: UInt32($0 - 1), serial: slots.entries[$0].serial) }
    }

    typealias Entry = (ref: Ref<Element>, element: Element)

    /// All entities with their references, in the order of insertion.
    var entries: some Sequence<Entry> { entries(of: refs) }

    /// Returns those of the given entities that exist.
    func entries(of refs: [Ref<Element>]) -> some Sequence<Entry> {
        refs.lazy.compactMap { ref in self[ref].map { (ref, $0) } }
    }

    /// The entity; nil if it was removed.
    ///
    /// Change it with optional chaining only, never assign it: ``insert(_:)`` and ``remove(_:)`` do that.
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
                // The capacity grows by a quarter instead of doubling: elements are large, and their number is mostly
                // constant.
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

/// The slots of a ``SlotTable``.
// Invariant of `@unchecked`: changed only by a table with the only reference; otherwise only read.
private final class Slots<Element: Sendable>: @unchecked Sendable {
    struct Entry: Sendable {
        /// 0 if the slot is empty, which can be read without a copy of the entity.
        var serial: UInt32
        var value: Element?
    }

    let capacity: Int
    private(set) var count = 0
    let entries: UnsafeMutablePointer<Entry>

    /// Creates slots whose first place is always empty; references to removed entities lead to it.
    ///
    /// So every access yields a place in the table, without a temporary.
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

    /// Appends an entry; there must be room.
    func append(_ entry: Entry) {
        (entries + count).initialize(to: entry)
        count += 1
    }

    /// Returns the place of an entity; 0 if it was removed.
    func place(of ref: Ref<Element>) -> Int {
        let place = Int(ref.slot) + 1
        return place < count && entries[place].serial == ref.serial ? place : 0
    }
}
