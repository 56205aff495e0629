import BluetoothBackend
import BluetoothSupport

extension ServiceDescription: WorldFileObject {
    static let fields = FieldTable(
        ServiceDescription(BluetoothUUID(0)),
        .required("uuid", \.uuid),
        .value("primary", \.isPrimary),
        .value("includes", \.includes, .list(.servicePath)),
        .value("characteristics", \.characteristics))
}

extension ValueForm where Value == ServicePath, Written == String {
    /// A UUID, with `#1` and so on for the second one and so on.
    fileprivate static let servicePath = text(
        rule: "a service is a UUID, with # and a number from 1 on where it is not the first of that UUID",
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
        .value(
            "properties", \.properties, .options("properties", CharacteristicProperties.names), isAlwaysWritten: true),
        .value("permissions", \.permissions, .options("permissions", AttributePermissions.names)),
        .value("value", \.value, .hex),
        .value("maximumLength", \.maximumLength),
        .value("timer", \.timer),
        .value("echo", \.echo),
        .value("clientConfiguration", \.clientConfiguration),
        .value("descriptors", \.descriptors))
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

extension CharacteristicProperties {
    /// The names in world files.
    static let names: KeyValuePairs<String, Self> = [
        "broadcast": .broadcast, "read": .read, "writeWithoutResponse": .writeWithoutResponse, "write": .write,
        "notify": .notify, "indicate": .indicate, "authenticatedSignedWrites": .authenticatedSignedWrites,
        "extendedProperties": .extendedProperties, "notifyEncryptionRequired": .notifyEncryptionRequired,
        "indicateEncryptionRequired": .indicateEncryptionRequired,
    ]

    /// The names of these properties in world files.
    package var names: [String] { Self.names.filter { contains($0.value) }.map(\.key) }
}

extension AttributePermissions {
    /// The names in world files.
    static let names: KeyValuePairs<String, Self> = [
        "readable": .readable, "writeable": .writeable, "readEncryptionRequired": .readEncryptionRequired,
        "writeEncryptionRequired": .writeEncryptionRequired,
    ]
}
