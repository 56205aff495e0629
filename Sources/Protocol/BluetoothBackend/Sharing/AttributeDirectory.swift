import BluetoothSupport

/// The attributes of a peer that discoveries found: services, their characteristics, and the descriptors of these.
///
/// Pure. Discoveries accumulate: a known attribute keeps its first record. Siblings are in the order of their handles as far
/// as these are known, otherwise in the order of the discoveries.
package struct AttributeDirectory: Sendable {
    /// An attribute, and its place among the others.
    package struct Entry: Hashable, Sendable {
        package let record: AttributeRecord
        /// The service of a characteristic, or the characteristic of a descriptor, if the discovery named it.
        package let parent: AttributeID?
        /// The characteristics of a service, or the descriptors of a characteristic.
        package fileprivate(set) var children: [AttributeID] = []
        /// The services that a service includes.
        package fileprivate(set) var included: [AttributeID] = []
        /// The same services, to look one up: a peer decides how many there are.
        fileprivate var includedIDs: Set<AttributeID> = []
        /// Whether a service was found other than as an included one.
        fileprivate var isListed = false
    }

    /// The services that were found other than as included ones.
    package private(set) var services: [AttributeID] = []
    private var entries: [AttributeID: Entry] = [:]
    private let limit: Int

    /// - Parameter limit: The largest number of attributes; further ones are not added.
    package init(limit: Int = .max) { self.limit = limit }

    package var count: Int { entries.count }

    package subscript(id: AttributeID) -> Entry? { entries[id] }

    // MARK: Discovering

    /// Adds the attributes that a response contains.
    ///
    /// - Parameters:
    ///   - response: The response; one to another request than a discovery changes nothing.
    ///   - parent: The attribute of the request: nil for the services of the peer, a service for those that it includes
    ///     and for its characteristics, a characteristic for its descriptors.
    /// - Returns: The response, with the new attributes alone.
    @discardableResult
    package mutating func apply(_ response: LinkResponse, of parent: AttributeID?) -> LinkResponse {
        switch response {
        case .services(let found):
            guard let parent else { return .services(found.filter { add(.service($0), of: nil) }) }
            return .services(found.filter { include($0, in: parent) })
        case .characteristics(let found): return .characteristics(found.filter { add(.characteristic($0), of: parent) })
        case .descriptors(let found): return .descriptors(found.filter { add(.descriptor($0), of: parent) })
        default: return response
        }
    }

    /// Adds the services that a restored manager knows, with their characteristics.
    package mutating func apply(_ restored: [RestoredCentralState.Service]) {
        apply(.services(restored.map(\.record)), of: nil)
        for service in restored { apply(.characteristics(service.characteristics), of: service.record.id) }
    }

    /// Adds an attribute.
    ///
    /// - Returns: Whether it is new; a service that was only included before is.
    @discardableResult
    package mutating func add(_ record: AttributeRecord, of parent: AttributeID?) -> Bool {
        if record.service != nil {
            guard entries[record.id]?.isListed != true, insert(record, of: nil) else { return false }
            entries[record.id]?.isListed = true
            services.insert(record.id, at: place(of: record, among: services))
        } else {
            guard entries[record.id] == nil, insert(record, of: parent) else { return false }
            guard let parent, let siblings = entries[parent]?.children else { return true }
            let place = place(of: record, among: siblings)
            entries[parent]?.children.insert(record.id, at: place)
        }
        return true
    }

    /// Adds a service that another one includes.
    ///
    /// - Returns: Whether it is new there.
    @discardableResult
    package mutating func include(_ service: ServiceRecord, in parent: AttributeID) -> Bool {
        guard entries[parent]?.includedIDs.contains(service.id) != true, insert(.service(service), of: nil) else {
            return false
        }
        entries[parent]?.included.append(service.id)
        entries[parent]?.includedIDs.insert(service.id)
        return true
    }

    /// - Returns: Whether the attribute, new or a known service, is in the directory now.
    private mutating func insert(_ record: AttributeRecord, of parent: AttributeID?) -> Bool {
        if let known = entries[record.id] { return known.record.service != nil }
        guard entries.count < limit else { return false }
        entries[record.id] = Entry(record: record, parent: parent)
        return true
    }

    /// Returns the index of the first sibling with a larger handle.
    ///
    /// Looks from the end, because a peer's attributes are found in ascending order.
    private func place(of record: AttributeRecord, among siblings: [AttributeID]) -> Int {
        guard let handle = record.handle else { return siblings.endIndex }
        var place = siblings.endIndex
        for index in siblings.indices.reversed() {
            guard let other = entries[siblings[index]]?.record.handle else { continue }
            guard other > handle else { break }
            place = index
        }
        return place
    }

    // MARK: Removing

    /// Removes services that the peer no longer has, with their attributes.
    ///
    /// - Returns: Those that were known, and the characteristics within them.
    @discardableResult
    package mutating func remove(
        _ gone: [AttributeID]
    ) -> (services: [AttributeID], characteristics: Set<AttributeID>) {
        var (known, within): ([AttributeID], Set<AttributeID>) = ([], [])
        for id in gone {
            guard let service = entries.removeValue(forKey: id) else { continue }
            known.append(id)
            within.formUnion(service.children)
        }
        for id in within {
            for descriptor in entries.removeValue(forKey: id)?.children ?? [] { entries[descriptor] = nil }
        }
        let removed = Set(known)
        services.removeAll(where: removed.contains)
        for (id, entry) in entries where !entry.includedIDs.isDisjoint(with: removed) {
            entries[id]?.included.removeAll(where: removed.contains)
            entries[id]?.includedIDs.subtract(removed)
        }
        return (known, within)
    }

    // MARK: Looking up

    /// All attributes, in no order.
    package var records: [AttributeRecord] { entries.values.map(\.record) }

    package func uuid(of id: AttributeID) -> BluetoothUUID? { entries[id]?.record.uuid }

    /// The characteristics of a service, or the descriptors of a characteristic.
    package func children(of id: AttributeID) -> [AttributeRecord] {
        entries[id]?.children.compactMap { entries[$0]?.record } ?? []
    }
}
