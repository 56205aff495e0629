package import BluetoothBackend
package import BluetoothEmulator
import BluetoothSupport

/// The attributes of a device as centrals discovered them, on one or several links.
///
/// At most 4,096 attributes are stored.
package struct RecordedDatabase: Sendable {
    /// An attribute under its identifier on one link.
    package struct Name: Hashable, Sendable {
        package let link: Int
        package let id: AttributeID

        package init(link: Int, id: AttributeID) { (self.link, self.id) = (link, id) }
    }

    /// A service, a characteristic or a descriptor.
    private struct Node: Sendable {
        let uuid: BluetoothUUID
        let handle: UInt16?
        let parent: Int?
        var isPrimary = true
        var properties: CharacteristicProperties = []
        var children: [Int] = []
        var included: [BluetoothUUID] = []
    }

    private static let maximumCount = 4_096

    private var nodes: [Node] = []
    private var services: [Int] = []
    private var names: [Name: Int] = [:]

    package init() {}

    // MARK: Discovering

    /// - Returns: Whether something new was found.
    package mutating func add(_ records: [ServiceRecord], on link: Int) -> Bool {
        add(records.map { ($0.id, Node(uuid: $0.uuid, handle: $0.handle, parent: nil, isPrimary: $0.isPrimary)) }, link)
    }

    /// Adds the services that a service includes.
    package mutating func add(_ records: [ServiceRecord], includedIn service: AttributeID, on link: Int) -> Bool {
        let isNew = add(records, on: link)
        guard let parent = names[Name(link: link, id: service)] else { return isNew }
        let included = records.map(\.uuid).filter { !nodes[parent].included.contains($0) }
        nodes[parent].included += included
        return isNew || !included.isEmpty
    }

    package mutating func add(_ records: [CharacteristicRecord], of service: AttributeID, on link: Int) -> Bool {
        guard let parent = names[Name(link: link, id: service)] else { return false }
        return add(
            records.map {
                ($0.id, Node(uuid: $0.uuid, handle: $0.handle, parent: parent, properties: $0.properties))
            }, link)
    }

    package mutating func add(_ records: [DescriptorRecord], of characteristic: AttributeID, on link: Int) -> Bool {
        guard let parent = names[Name(link: link, id: characteristic)] else { return false }
        return add(records.map { ($0.id, Node(uuid: $0.uuid, handle: $0.handle, parent: parent)) }, link)
    }

    /// Adds the attributes of one parent; known ones get one more name.
    private mutating func add(_ found: [(AttributeID, Node)], _ link: Int) -> Bool {
        let countBefore = nodes.count
        var occurrences: [BluetoothUUID: Int] = [:]
        for (id, node) in found {
            let occurrence = occurrences[node.uuid, default: 0]
            occurrences[node.uuid] = occurrence + 1
            let siblings = node.parent.map { nodes[$0].children } ?? services
            let equal = siblings.filter { nodes[$0].uuid == node.uuid }
            let known =
                node.handle == nil
                ? equal.dropFirst(occurrence).first : equal.first { nodes[$0].handle == node.handle }
            let name = Name(link: link, id: id)
            if let known {
                names[name] = known
            } else if nodes.count < Self.maximumCount {
                names[name] = nodes.count
                insert(node)
            }
        }
        return nodes.count > countBefore
    }

    /// Inserts an attribute among its siblings, by its handle if known.
    private mutating func insert(_ node: Node) {
        var siblings = node.parent.map { nodes[$0].children } ?? services
        let next = siblings.firstIndex { sibling in
            guard let handle = node.handle, let other = nodes[sibling].handle else { return false }
            return other > handle
        }
        siblings.insert(nodes.count, at: next ?? siblings.endIndex)
        nodes.append(node)
        if let parent = node.parent { nodes[parent].children = siblings } else { services = siblings }
    }

    /// Removes the names of a link that has ended.
    package mutating func forget(link: Int) { names = names.filter { $0.key.link != link } }

    // MARK: Looking up

    /// Returns a characteristic or a descriptor in the notation of recordings; nil if it was not discovered.
    package func attribute(_ name: Name) -> RecordedAttribute? {
        guard let number = names[name], let parent = nodes[number].parent else { return nil }
        if nodes[parent].parent == nil { return path(ofCharacteristic: number) }
        var attribute = path(ofCharacteristic: parent)
        attribute?.descriptor = nodes[number].uuid
        return attribute
    }

    private func path(ofCharacteristic number: Int) -> RecordedAttribute? {
        guard let service = nodes[number].parent else { return nil }
        let (serviceUUID, uuid) = (nodes[service].uuid, nodes[number].uuid)
        let equal = services.filter { nodes[$0].uuid == serviceUUID }.flatMap { nodes[$0].children }
            .filter { nodes[$0].uuid == uuid }
        return RecordedAttribute(
            service: serviceUUID, characteristic: uuid, index: equal.firstIndex(of: number) ?? 0)
    }

    // MARK: Describing

    /// The services for a description, which omits 1800, 1801 and Client Characteristic Configurations because they
    /// exist anyway.
    package var descriptions: [ServiceDescription] {
        var before: Set<BluetoothUUID> = []
        return services.filter { ![0x1800, 0x1801].contains(nodes[$0].uuid.bits16) }.map { number in
            let node = nodes[number]
            // A description can include only earlier services.
            let included = node.included.filter(before.contains)
            before.insert(node.uuid)
            return ServiceDescription(
                node.uuid, isPrimary: node.isPrimary, includes: included.map { ServicePath($0) },
                characteristics: node.children.map(characteristic))
        }
    }

    private func characteristic(_ number: Int) -> CharacteristicDescription {
        let node = nodes[number]
        let known = node.children.map { nodes[$0].uuid }
        var description = CharacteristicDescription(node.uuid, node.properties)
        description.descriptors = known.filter { $0.bits16 != 0x2902 }.map { uuid in
            DescriptorDescription(
                uuid, value: uuid.bits16 == 0x2900 ? Data([0, 0]) : Data(), permissions: [.readable])
        }
        return description
    }
}
