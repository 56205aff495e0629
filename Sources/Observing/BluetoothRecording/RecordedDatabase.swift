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

    private static let maximumCount = 4_096

    /// The attributes of all links, under numbers of their own: those of a second link are the same attributes.
    private var attributes = AttributeDirectory(limit: Self.maximumCount)
    private var names: [Name: AttributeID] = [:]

    package init() {}

    // MARK: Discovering

    /// Adds the attributes that a response contains.
    ///
    /// - Parameter parent: The attribute of the request, under its identifier on the link; see ``AttributeDirectory``.
    /// - Returns: Whether something new was found.
    package mutating func apply(_ response: LinkResponse, of parent: AttributeID?, on link: Int) -> Bool {
        let found = response.attributes
        guard let parent else { return add(found, of: nil, on: link) }
        let known = names[Name(link: link, id: parent)]
        guard case .services(let included) = response else {
            return known.map { add(found, of: $0, on: link) } ?? false
        }
        let isNew = add(found, of: nil, on: link)
        guard let known else { return isNew }
        let isIncludedAnew = included.filter { service in
            let record = names[Name(link: link, id: service.id)].flatMap { attributes[$0]?.record.service }
            return record.map { attributes.include($0, in: known) } ?? false
        }
        return isNew || !isIncludedAnew.isEmpty
    }

    /// Adds the attributes of one parent; known ones get one more name.
    private mutating func add(_ found: [AttributeRecord], of parent: AttributeID?, on link: Int) -> Bool {
        let countBefore = attributes.count
        var occurrences: [BluetoothUUID: Int] = [:]
        for record in found {
            let occurrence = occurrences[record.uuid, default: 0]
            occurrences[record.uuid] = occurrence + 1
            let equal = children(of: parent).filter { attributes.uuid(of: $0) == record.uuid }
            let known =
                record.handle == nil
                ? equal.dropFirst(occurrence).first : equal.first { attributes[$0]?.record.handle == record.handle }
            let id = known ?? AttributeID(rawValue: UInt32(attributes.count))
            if known != nil || attributes.add(record.identified(as: id), of: parent) {
                names[Name(link: link, id: record.id)] = id
            }
        }
        return attributes.count > countBefore
    }

    private func children(of parent: AttributeID?) -> [AttributeID] {
        parent.map { attributes[$0]?.children ?? [] } ?? attributes.services
    }

    /// Removes the names of a link that has ended.
    package mutating func forget(link: Int) { names = names.filter { $0.key.link != link } }

    // MARK: Looking up

    /// Returns a characteristic or a descriptor in the notation of recordings; nil if it was not discovered.
    package func attribute(_ name: Name) -> RecordedAttribute? {
        guard let id = names[name], let entry = attributes[id], let parent = entry.parent else { return nil }
        if entry.record.descriptor == nil { return path(ofCharacteristic: id, in: parent) }
        guard let service = attributes[parent]?.parent else { return nil }
        var attribute = path(ofCharacteristic: parent, in: service)
        attribute?.descriptor = entry.record.uuid
        return attribute
    }

    private func path(ofCharacteristic id: AttributeID, in service: AttributeID) -> RecordedAttribute? {
        guard let uuid = attributes.uuid(of: id), let serviceUUID = attributes.uuid(of: service) else { return nil }
        let equal = attributes.services.filter { attributes.uuid(of: $0) == serviceUUID }.flatMap { children(of: $0) }
            .filter { attributes.uuid(of: $0) == uuid }
        return RecordedAttribute(service: serviceUUID, characteristic: uuid, index: equal.firstIndex(of: id) ?? 0)
    }

    // MARK: Describing

    /// The services for a description, which omits 1800, 1801 and Client Characteristic Configurations because they
    /// exist anyway.
    package var descriptions: [ServiceDescription] {
        var before: Set<BluetoothUUID> = []
        let services = attributes.services.compactMap { attributes[$0] }
        return services.filter { ![0x1800, 0x1801].contains($0.record.uuid.bits16) }.map { entry in
            // A description can include only earlier services.
            let included = entry.included.compactMap { attributes.uuid(of: $0) }.filter(before.contains)
            before.insert(entry.record.uuid)
            return ServiceDescription(
                entry.record.uuid, isPrimary: entry.record.service?.isPrimary ?? true,
                includes: included.map { ServicePath($0) },
                characteristics: entry.children.compactMap { attributes[$0] }.map(characteristic))
        }
    }

    private func characteristic(_ entry: AttributeDirectory.Entry) -> CharacteristicDescription {
        let known = entry.children.compactMap { attributes.uuid(of: $0) }
        var description = CharacteristicDescription(entry.record.uuid, entry.record.properties)
        description.descriptors = known.filter { $0.bits16 != 0x2902 }.map { uuid in
            DescriptorDescription(
                uuid, value: uuid.bits16 == 0x2900 ? Data([0, 0]) : Data(), permissions: [.readable])
        }
        return description
    }
}
