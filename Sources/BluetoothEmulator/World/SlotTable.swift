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

    private var entries: [Entry] = []
    private var free: [UInt32] = []
    private var lastSerial: UInt32 = 0
    private(set) var count = 0

    /// The living, in the order of birth.
    var refs: [Ref<Element>] {
        entries.indices.compactMap { slot in
            guard entries[slot].value != nil else { return nil }
            return Ref(slot: UInt32(slot), serial: entries[slot].serial)
        }.sorted()
    }

    /// The entity, nil if it is gone.
    ///
    /// Assigning nil does not free the place; ``remove(_:)`` does.
    subscript(ref: Ref<Element>) -> Element? {
        _read {
            if isNamed(ref) {
                yield entries[Int(ref.slot)].value
            } else {
                yield nil
            }
        }
        _modify {
            if isNamed(ref) {
                yield &entries[Int(ref.slot)].value
            } else {
                var gone: Element?
                yield &gone
            }
        }
    }

    private func isNamed(_ ref: Ref<Element>) -> Bool {
        Int(ref.slot) < entries.count && entries[Int(ref.slot)].serial == ref.serial
    }

    /// The reference that the next ``insert(_:)`` will return.
    var nextRef: Ref<Element> {
        Ref(slot: free.last ?? UInt32(entries.count), serial: lastSerial + 1)
    }

    mutating func insert(_ element: Element) -> Ref<Element> {
        let ref = nextRef
        lastSerial += 1
        count += 1
        if free.popLast() != nil {
            entries[Int(ref.slot)] = Entry(serial: ref.serial, value: element)
        } else {
            entries.append(Entry(serial: ref.serial, value: element))
        }
        return ref
    }

    @discardableResult
    mutating func remove(_ ref: Ref<Element>) -> Element? {
        guard isNamed(ref), let element = entries[Int(ref.slot)].value else {
            return nil
        }
        entries[Int(ref.slot)].value = nil
        free.append(ref.slot)
        count -= 1
        return element
    }

    /// Whether the entity is alive.
    func contains(_ ref: Ref<Element>) -> Bool {
        isNamed(ref) && entries[Int(ref.slot)].value != nil
    }
}
