import BluetoothBackend
import BluetoothSupport

extension ServiceDescription: WorldFileObject {
    static let fields = FieldTable(
        ServiceDescription(BluetoothUUID(0)),
        .required("uuid", \.uuid),
        .value("primary", \.isPrimary),
        .value("includes", \.includes, .list(.servicePath)),
        .attributes("characteristics", \.characteristics, handles: \.handleCount))
}

extension ValueForm where Value == ServicePath, Written == String {
    /// A UUID, followed by `#1` for the second service with that UUID and so on.
    fileprivate static let servicePath = text(
        rule: "a service is a UUID, with # and a number from 1 on if it is not the first of that UUID",
        parse: { text in
            let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            guard let uuid = BluetoothUUID(String(parts[0])) else { return nil }
            guard parts.count == 2 else { return ServicePath(uuid) }
            return Int(parts[1]).flatMap { $0 > 0 ? ServicePath(uuid, index: $0) : nil }
        }, text: \.description)
}

extension CharacteristicDescription: WorldFileObject {
    static let fields = FieldTable(
        CharacteristicDescription(BluetoothUUID(0), []),
        .required("uuid", \.uuid),
        .value("properties", \.properties, .properties, isAlwaysWritten: true),
        .value("permissions", \.permissions, .options("permissions", AttributePermissions.names)),
        .value("value", \.value, .hex),
        .value("maximumLength", \.maximumLength),
        .value("timer", \.timer),
        .value("echo", \.echo),
        .value("clientConfiguration", \.clientConfiguration),
        .attributes("descriptors", \.descriptors, handles: { _ in 1 }))
}

extension CharacteristicDescription.Timer: WorldFileObject {
    static let fields = FieldTable(
        CharacteristicDescription.Timer(every: .zero),
        .value("interval", \.interval, .duration, isRequired: true),
        .value("values", \.values, .list(.hex)))
}

extension DescriptorDescription: WorldFileObject {
    static let fields = FieldTable(
        DescriptorDescription(BluetoothUUID(0), value: Data()),
        .required("uuid", \.uuid),
        .value("value", \.value, .hex),
        .value("permissions", \.permissions, .options("permissions", AttributePermissions.names)))
}

extension ChannelDescription: WorldFileObject {
    static let fields = FieldTable(
        ChannelDescription(psm: 0),
        .required("psm", \.psm),
        .value("encryptionRequired", \.isEncryptionRequired),
        .value("echo", \.echo))
}

extension Field {
    /// A list of attributes, decoded no further than the handles of one device reach.
    ///
    /// Elements beyond that are not decoded, so the decoding time is bounded by what a device can contain.
    ///
    /// - Parameter handles: Returns the number of handles that an element needs.
    static func attributes<Element: Codable & Hashable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<Root, [Element]> & Sendable, isAlwaysWritten: Bool = false,
        handles: @escaping @Sendable (Element) -> Int
    ) -> Field {
        let values = value(name, path, isAlwaysWritten: isAlwaysWritten)
        return Field(
            name: name,
            read: { object, field in
                let key = FieldName(name)
                guard field.container.contains(key), try !field.container.decodeNil(forKey: key) else { return }
                var list = try field.container.nestedUnkeyedContainer(forKey: key)
                var (elements, used): ([Element], Int) = ([], 0)
                while !list.isAtEnd {
                    var field = field
                    field.element = FieldName(intValue: list.currentIndex)
                    let element = try list.decode(Element.self)
                    used += handles(element)
                    guard used <= Int(UInt16.max) else { throw field.error(AttributeDatabase.tooManyAttributes) }
                    elements.append(element)
                }
                object[keyPath: path] = elements
            }, write: values.write)
    }
}

extension ValueForm where Value == CharacteristicProperties, Written == [String] {
    fileprivate static let properties = options(
        "properties", CharacteristicProperties.namesAndWords.map { ($0.name, $0.property) })
}

extension AttributePermissions {
    /// The permissions' names in world files.
    static let names: [(key: String, value: Self)] = [
        ("readable", .readable), ("writeable", .writeable), ("readEncryptionRequired", .readEncryptionRequired),
        ("writeEncryptionRequired", .writeEncryptionRequired),
    ]
}
