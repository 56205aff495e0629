/// A table that never exceeds its limit: the entry whose use is longest ago falls out.
///
/// Pure. Every operation takes constant time.
package struct LRUCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// An entry, and its neighbours in the order of use; ``none`` at the ends.
    private struct Node: Sendable {
        let key: Key
        var value: Value
        var older: Int
        var newer: Int
    }

    private static var none: Int { -1 }

    /// The largest number of entries; at least 1.
    package private(set) var limit: Int
    /// Without gaps.
    private var nodes: [Node] = []
    private var positions: [Key: Int] = [:]
    private var oldest = none
    private var newest = none

    package init(limit: Int) { self.limit = max(1, limit) }

    package var count: Int { nodes.count }

    /// The value of a key; to look at it is no use of it.
    package subscript(key: Key) -> Value? { positions[key].map { nodes[$0].value } }

    /// The keys, in the order of their last use.
    package var keys: [Key] {
        var keys: [Key] = []
        var position = oldest
        while position != Self.none {
            keys.append(nodes[position].key)
            position = nodes[position].newer
        }
        return keys
    }

    /// Uses a value, and changes it in place; nil where the key has none.
    package mutating func use<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result? {
        guard let position = positions[key] else { return nil }
        if position != newest {
            unlink(position)
            linkAsNewest(position)
        }
        return body(&nodes[position].value)
    }

    /// Inserts a value, which counts as used now.
    ///
    /// - Returns: What fell out for it.
    @discardableResult
    package mutating func insert(_ value: Value, for key: Key) -> (key: Key, value: Value)? {
        if use(key, { $0 = value }) != nil { return nil }
        let evicted = nodes.count < limit ? nil : removeOldest()
        positions[key] = nodes.count
        nodes.append(Node(key: key, value: value, older: Self.none, newer: Self.none))
        linkAsNewest(nodes.count - 1)
        return evicted
    }

    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let position = positions.removeValue(forKey: key) else { return nil }
        unlink(position)
        let value = nodes[position].value
        fill(position)
        return value
    }

    /// Sets another limit, at least 1.
    ///
    /// - Returns: What fell out for it, in the order of use.
    @discardableResult
    package mutating func changeLimit(to limit: Int) -> [(key: Key, value: Value)] {
        self.limit = max(1, limit)
        var evicted: [(key: Key, value: Value)] = []
        while nodes.count > self.limit, let entry = removeOldest() { evicted.append(entry) }
        return evicted
    }

    private mutating func removeOldest() -> (key: Key, value: Value)? {
        guard oldest != Self.none else { return nil }
        let key = nodes[oldest].key
        return remove(key).map { (key, $0) }
    }

    // MARK: Order

    private mutating func unlink(_ position: Int) {
        let (older, newer) = (nodes[position].older, nodes[position].newer)
        if older == Self.none { oldest = newer } else { nodes[older].newer = newer }
        if newer == Self.none { newest = older } else { nodes[newer].older = older }
    }

    private mutating func linkAsNewest(_ position: Int) {
        nodes[position].older = newest
        nodes[position].newer = Self.none
        if newest == Self.none { oldest = position } else { nodes[newest].newer = position }
        newest = position
    }

    /// The last node takes the place of one that is out of the order already.
    private mutating func fill(_ position: Int) {
        let last = nodes.removeLast()
        guard position < nodes.count else { return }
        nodes[position] = last
        positions[last.key] = position
        if last.older == Self.none { oldest = position } else { nodes[last.older].newer = position }
        if last.newer == Self.none { newest = position } else { nodes[last.newer].older = position }
    }
}
