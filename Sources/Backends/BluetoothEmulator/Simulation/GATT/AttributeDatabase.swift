import BluetoothBackend
import BluetoothSupport
import BluetoothValues

/// One attribute of a device, with its state on the server.
struct Attribute: Sendable {
    enum Role: Sendable, Hashable {
        case service(isPrimary: Bool)
        /// A characteristic, whose declaration has the handle before the value's.
        case characteristic
        case descriptor
        /// The Client Characteristic Configuration, whose value each client has for itself.
        case clientConfiguration
    }

    /// The accesses that the server permits.
    struct Access: Sendable {
        let properties: CharacteristicProperties
        let permissions: AttributePermissions
        /// The maximum length of the value, in bytes, at most 512.
        let maximumLength: UInt16
        /// Whether a written value is sent back to the writer, if it subscribes.
        let isEcho: Bool
        /// Whether reads are left unanswered.
        var isHeld = false
    }

    // The order avoids padding, because a device has many attributes.
    let uuid: BluetoothUUID
    let role: Role
    /// The handle of a service's declaration or of a characteristic's value.
    let handle: UInt16
    var endHandle: UInt16
    var access: Access
    let parent: AttributeID?
    var value: Data
    /// The characteristics of a service or the descriptors of a characteristic, in handle order.
    var children: [AttributeID] = []
    var included: [AttributeID] = []
    /// The manager that published the attribute; nil on a described device.
    var owner: Owner?

    /// The manager that published an attribute, with its number for the attribute.
    struct Owner: Sendable {
        var manager: Ref<Manager>
        let local: AttributeID
        /// Whether the manager answers reads and writes.
        let isDynamic: Bool
    }
}

/// The attributes of one device.
///
/// Identifiers are never reused, even if services are removed and added.
///
/// Source: Core Specification, Vol 3, Part G, 3.
struct AttributeDatabase: Sendable {
    /// The rule that a description with more attributes than handles breaks.
    static let tooManyAttributes = "a device has at most 65535 attributes"

    /// The attributes, by identifier; nil if removed, and at 0, the place of unknown identifiers.
    private var attributes: [Attribute?] = [nil]
    /// The services, in handle order.
    private(set) var services: [AttributeID] = []
    /// The services in the order of their addition, including removed ones.
    private(set) var addedServices: [AttributeID] = []
    private(set) var lastHandle: UInt16 = 0

    /// The attribute, nil if it was removed; to be changed with optional chaining only, never assigned.
    subscript(id: AttributeID) -> Attribute? {
        _read { yield attributes[place(of: id)] }
        _modify { yield &attributes[place(of: id)] }
    }

    private func place(of id: AttributeID) -> Int {
        Int(id.rawValue) < attributes.count ? Int(id.rawValue) : 0
    }

    /// All attributes, in the order of their addition.
    var all: some Sequence<(id: AttributeID, attribute: Attribute)> {
        attributes.enumerated().lazy.compactMap { place, attribute in
            attribute.map { (id: AttributeID(rawValue: UInt32(place)), attribute: $0) }
        }
    }

    /// Returns the error if the permissions do not allow an access; nil if they do.
    mutating func refusal(_ id: AttributeID, isWrite: Bool, on security: SecurityLevel) -> ATTCode? {
        guard let permissions = self[id]?.access.permissions else { return .invalidHandle }
        if permissions.contains(isWrite ? .writeEncryptionRequired : .readEncryptionRequired) {
            return security.refusal
        }
        if permissions.contains(isWrite ? .writeable : .readable) { return nil }
        return isWrite ? .writeNotPermitted : .readNotPermitted
    }

    /// Returns the error if a characteristic does not accept a value in this way; nil if it does.
    ///
    /// Source: Core Specification, Vol 3, Part F, 3.4.6.3, for the offset.
    mutating func writeRefusal(
        _ id: AttributeID, count: Int, from offset: UInt16, needs property: CharacteristicProperties
    ) -> ATTCode? {
        guard let role = self[id]?.role, let maximum = self[id]?.access.maximumLength else { return .invalidHandle }
        if role == .characteristic, self[id]?.access.properties.contains(property) != true { return .writeNotPermitted }
        // Only the manager knows the length of a dynamic value.
        if offset > 0, self[id]?.owner?.isDynamic != true, offset > self[id]?.value.count ?? 0 { return .invalidOffset }
        return Int(offset) + count > maximum ? .invalidAttributeValueLength : nil
    }

    /// Returns the value of an attribute after a write from an offset; a write from 0 replaces it.
    mutating func value(of id: AttributeID, writing bytes: Data, from offset: UInt16) -> Data {
        guard offset > 0, let old = self[id]?.value else { return bytes }
        var value = Data(old.prefix(Int(offset)))
        value.append(bytes)
        value.append(old.dropFirst(value.count))
        return value
    }

    /// The services that apps may see; 1800 and 1801 belong to the host.
    var visibleServices: [AttributeID] {
        services.filter { id in
            let short = self[id]?.uuid.bits16
            return short != 0x1800 && short != 0x1801
        }
    }

    /// Whether the database has a service with one of these UUIDs.
    func offers(_ uuids: some Collection<BluetoothUUID>) -> Bool {
        services.contains { id in self[id].map { uuids.contains($0.uuid) } ?? false }
    }

    func record(ofService id: AttributeID) -> ServiceRecord? {
        guard let service = self[id], case .service(let isPrimary) = service.role else { return nil }
        return ServiceRecord(id: id, uuid: service.uuid, isPrimary: isPrimary, handle: service.handle)
    }

    func record(ofCharacteristic id: AttributeID) -> CharacteristicRecord? {
        guard let found = self[id] else { return nil }
        return CharacteristicRecord(
            id: id, uuid: found.uuid, properties: found.access.properties.onAir, handle: found.handle)
    }

    func record(ofDescriptor id: AttributeID) -> DescriptorRecord? {
        guard let found = self[id] else { return nil }
        return DescriptorRecord(id: id, uuid: found.uuid, handle: found.handle)
    }

    /// Adds one service at the end of the handle space.
    ///
    /// - Throws: ``DescriptionError`` if the handles run out or an included service does not exist.
    mutating func add(_ service: ServiceDescription, path: String = "service") throws(DescriptionError) -> AttributeID {
        var included: [AttributeID] = []
        for (path, wanted) in service.includes.located(at: "\(path).includes") {
            guard let id = self.service(wanted) else {
                throw DescriptionError(path, "no earlier service has the UUID \(wanted)")
            }
            included.append(id)
        }
        let size = service.handleCount
        try require(Int(lastHandle) + size <= Int(UInt16.max), path, Self.tooManyAttributes)
        let id = open(service.uuid, isPrimary: service.isPrimary, including: included)
        for characteristic in service.characteristics { add(characteristic, to: id) }
        close(id)
        return id
    }

    private mutating func add(_ description: CharacteristicDescription, to service: AttributeID) {
        let id = appendCharacteristic(
            description.uuid, to: service, properties: description.properties,
            permissions: description.effectivePermissions, maximumLength: description.maximumLength,
            isEcho: description.echo, value: description.value,
            hasClientConfiguration: description.hasClientConfiguration)
        for descriptor in description.descriptors {
            _ = appendDescriptor(descriptor.uuid, to: id, permissions: descriptor.permissions, value: descriptor.value)
        }
    }

    /// Appends a characteristic, with its declaration and its client configuration.
    mutating func appendCharacteristic(
        _ uuid: BluetoothUUID, to service: AttributeID, properties: CharacteristicProperties,
        permissions: AttributePermissions, maximumLength: Int = ATTLimits.longestValue, isEcho: Bool = false,
        value: Data,
        hasClientConfiguration: Bool
    ) -> AttributeID {
        _ = takeHandle()  // the declaration
        let id = append(
            uuid: uuid, role: .characteristic, handle: takeHandle(), parent: service, properties: properties,
            permissions: permissions, maximumLength: maximumLength, isEcho: isEcho, value: value)
        self[service]?.children.append(id)
        if hasClientConfiguration { _ = appendDescriptor(BluetoothUUID(0x2902), to: id, role: .clientConfiguration) }
        return id
    }

    mutating func appendDescriptor(
        _ uuid: BluetoothUUID, to characteristic: AttributeID, role: Attribute.Role = .descriptor,
        permissions: AttributePermissions = [.readable], value: Data = Data()
    ) -> AttributeID {
        let id = append(
            uuid: uuid, role: role, handle: takeHandle(), parent: characteristic, permissions: permissions, value: value
        )
        self[characteristic]?.children.append(id)
        return id
    }

    /// Adds services under their own handles, in handle order; every access is permitted.
    ///
    /// Handles from 1 on; attributes with other ones are not added.
    ///
    /// - Parameter kept: Those of the services that the database contains already.
    /// - Returns: The services that were added.
    mutating func add(_ all: [TappedService], except kept: Set<AttributeID>) -> [AttributeID] {
        var ids: [UInt16: AttributeID] = [:]
        for id in kept { ids[self[id]?.handle ?? 0] = id }
        var added: [AttributeID] = []
        for service in all.sorted(by: { $0.handles.lowerBound < $1.handles.lowerBound })
        where service.handles.lowerBound > 0 && ids[service.handles.lowerBound] == nil {
            lastHandle = service.handles.lowerBound - 1
            let id = open(service.uuid, isPrimary: service.isPrimary, including: [])
            ids[service.handles.lowerBound] = id
            added.append(id)
            for characteristic in service.characteristics { append(characteristic, to: id) }
            lastHandle = service.handles.upperBound
            close(id)
        }
        // A service may include a later one.
        for service in all {
            guard let id = ids[service.handles.lowerBound] else { continue }
            self[id]?.included = service.included.compactMap { ids[$0.handles.lowerBound] }
        }
        services = services.sorted { (self[$0]?.handle ?? 0) < (self[$1]?.handle ?? 0) }
        return added
    }

    private mutating func append(_ characteristic: TappedCharacteristic, to service: AttributeID) {
        // The declaration has the handle before the value's.
        guard characteristic.valueHandle > 1 else { return }
        lastHandle = characteristic.valueHandle - 2
        let id = appendCharacteristic(
            characteristic.uuid, to: service, properties: characteristic.properties,
            permissions: [.readable, .writeable], value: Data(), hasClientConfiguration: false)
        for descriptor in characteristic.descriptors where descriptor.handle > 0 {
            lastHandle = descriptor.handle - 1
            _ = appendDescriptor(
                descriptor.uuid, to: id, role: descriptor.uuid == "2902" ? .clientConfiguration : .descriptor,
                permissions: [.readable, .writeable])
        }
    }

    mutating func remove(_ service: AttributeID) {
        for characteristic in self[service]?.children ?? [] {
            for descriptor in self[characteristic]?.children ?? [] { attributes[Int(descriptor.rawValue)] = nil }
            attributes[Int(characteristic.rawValue)] = nil
        }
        attributes[Int(service.rawValue)] = nil
        services.removeAll { $0 == service }
        for other in services { self[other]?.included.removeAll { $0 == service } }
        lastHandle = services.compactMap { self[$0]?.endHandle }.max() ?? 0
    }

    /// Appends a service with the handles of its include declarations, to be closed with `close(_:)`.
    mutating func open(_ uuid: BluetoothUUID, isPrimary: Bool, including included: [AttributeID]) -> AttributeID {
        let id = append(uuid: uuid, role: .service(isPrimary: isPrimary), handle: takeHandle(), parent: nil)
        lastHandle += UInt16(included.count)
        self[id]?.included = included
        return id
    }

    /// Closes a service after all its attributes have been appended.
    mutating func close(_ service: AttributeID) {
        let end = lastHandle
        self[service]?.endHandle = end
        services.append(service)
        addedServices.append(service)
    }

    private mutating func append(
        uuid: BluetoothUUID, role: Attribute.Role, handle: UInt16, parent: AttributeID?,
        properties: CharacteristicProperties = [], permissions: AttributePermissions = [],
        maximumLength: Int = ATTLimits.longestValue, isEcho: Bool = false, value: Data = Data()
    ) -> AttributeID {
        let id = AttributeID(rawValue: UInt32(attributes.count))
        attributes.append(
            Attribute(
                uuid: uuid, role: role, handle: handle, endHandle: handle,
                access: Attribute.Access(
                    properties: properties.completed, permissions: permissions,
                    maximumLength: UInt16(clamping: maximumLength), isEcho: isEcho),
                parent: parent, value: value))
        return id
    }

    /// Releases the capacity for further attributes.
    mutating func compact() { attributes = attributes.map { $0 } }

    private mutating func takeHandle() -> UInt16 {
        lastHandle += 1
        return lastHandle
    }
}

extension CharacteristicProperties {
    /// A property that requires encryption for notifications implies notifications.
    fileprivate var completed: CharacteristicProperties {
        var result = self
        if contains(.notifyEncryptionRequired) { result.insert(.notify) }
        if contains(.indicateEncryptionRequired) { result.insert(.indicate) }
        return result
    }

    /// The eight bits of the declaration on the air.
    fileprivate var onAir: CharacteristicProperties { CharacteristicProperties(rawValue: rawValue & 0xFF) }
}
