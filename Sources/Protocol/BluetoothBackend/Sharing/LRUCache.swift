/// A table with a limited number of entries, which drops the least recently used one.
///
/// Pure. Every operation takes constant time, averaged over many of them. Inlinable, so that other modules compile it
/// for their own keys and values.
package struct LRUCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline var value: Value
        /// The number of the last use.
        @usableFromInline var use: UInt64

        @inlinable
        init(value: Value, use: UInt64) { (self.value, self.use) = (value, use) }
    }

    /// The largest number of entries; at least 1.
    package private(set) var limit: Int
    @usableFromInline var entries: [Key: Entry] = [:]
    /// The uses in their order, from `oldest` on; only the last use of a key counts, the others are dropped in time.
    @usableFromInline var uses: [(key: Key, number: UInt64)] = []
    @usableFromInline var oldest = 0
    @usableFromInline var lastUse: UInt64 = 0

    package init(limit: Int) { self.limit = max(1, limit) }

    @inlinable
    package var count: Int { entries.count }

    /// The value of a key; a read does not count as a use.
    @inlinable
    package subscript(key: Key) -> Value? { entries[key]?.value }

    /// The keys, in the order of their last use.
    @inlinable
    package var keys: [Key] { uses[oldest...].filter(isLast).map(\.key) }

    /// Uses a value, and changes it in place; nil if the key has no value.
    @inlinable
    package mutating func use<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result? {
        guard let index = entries.index(forKey: key) else { return nil }
        if entries.values[index].use != lastUse { entries.values[index].use = recordUse(of: key) }
        return body(&entries.values[index].value)
    }

    /// Inserts a value, which counts as used now.
    ///
    /// - Returns: The entry that was dropped for it.
    @inlinable
    @discardableResult
    package mutating func insert(_ value: Value, for key: Key) -> (key: Key, value: Value)? {
        if use(key, { $0 = value }) != nil { return nil }
        let evicted = entries.count < limit ? nil : removeOldest()
        entries[key] = Entry(value: value, use: recordUse(of: key))
        return evicted
    }

    @inlinable
    @discardableResult
    package mutating func remove(_ key: Key) -> Value? { entries.removeValue(forKey: key)?.value }

    /// Changes the limit, at least 1.
    ///
    /// - Returns: The dropped entries, in the order of use.
    @discardableResult
    package mutating func changeLimit(to limit: Int) -> [(key: Key, value: Value)] {
        self.limit = max(1, limit)
        var evicted: [(key: Key, value: Value)] = []
        while entries.count > self.limit, let entry = removeOldest() { evicted.append(entry) }
        return evicted
    }

    @inlinable
    mutating func removeOldest() -> (key: Key, value: Value)? {
        while oldest < uses.count {
            let use = uses[oldest]
            oldest += 1
            if isLast(use), let entry = entries.removeValue(forKey: use.key) { return (use.key, entry.value) }
        }
        return nil
    }

    /// Appends a use, and first drops uses that do not count if they are in the majority.
    @inlinable
    mutating func recordUse(of key: Key) -> UInt64 {
        if uses.count > 2 * entries.count + 16 {
            uses = uses[oldest...].filter(isLast)
            oldest = 0
        }
        lastUse += 1
        uses.append((key, lastUse))
        return lastUse
    }

    @inlinable
    func isLast(_ use: (key: Key, number: UInt64)) -> Bool { entries[use.key]?.use == use.number }
}
