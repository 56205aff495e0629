/// An attribute found at a peer.
package enum AttributeRecord: Hashable, Sendable {
    case service(ServiceRecord)
    case characteristic(CharacteristicRecord)
    case descriptor(DescriptorRecord)

    package var id: AttributeID {
        switch self {
        case .service(let record): record.id
        case .characteristic(let record): record.id
        case .descriptor(let record): record.id
        }
    }

    package var uuid: BluetoothUUID {
        switch self {
        case .service(let record): record.uuid
        case .characteristic(let record): record.uuid
        case .descriptor(let record): record.uuid
        }
    }

    /// The handle of a service's declaration, of a characteristic's value or of a descriptor, if the backend knows it.
    package var handle: UInt16? {
        switch self {
        case .service(let record): record.handle
        case .characteristic(let record): record.handle
        case .descriptor(let record): record.handle
        }
    }

    /// The properties of a characteristic; none for other attributes.
    package var properties: CharacteristicProperties { characteristic?.properties ?? [] }

    package var service: ServiceRecord? { if case .service(let record) = self { record } else { nil } }

    package var characteristic: CharacteristicRecord? {
        if case .characteristic(let record) = self { record } else { nil }
    }

    package var descriptor: DescriptorRecord? { if case .descriptor(let record) = self { record } else { nil } }

    /// Returns the record under another identifier.
    package func identified(as id: AttributeID) -> AttributeRecord {
        switch self {
        case .service(var record):
            record.id = id
            return .service(record)
        case .characteristic(var record):
            record.id = id
            return .characteristic(record)
        case .descriptor(var record):
            record.id = id
            return .descriptor(record)
        }
    }
}

extension LinkResponse {
    /// The attributes that a discovery found; empty for other responses.
    package var attributes: [AttributeRecord] {
        switch self {
        case .services(let found): found.map { .service($0) }
        case .characteristics(let found): found.map { .characteristic($0) }
        case .descriptors(let found): found.map { .descriptor($0) }
        default: []
        }
    }
}
