import BluetoothSupport

/// The position of a service, characteristic or descriptor in a device, for devices whose UUIDs are not unique.
public struct AttributePosition: Hashable, Sendable, Codable {
    /// The number of the service, from 0: first the services of the description, then added ones in the order of their
    /// addition.
    ///
    /// The services 1800 and 1801, which every device has, are not counted. The number of a removed service is not
    /// reused.
    public var service: Int
    /// The index of the characteristic in its service; nil for the service itself.
    public var characteristic: Int?
    /// The index of the descriptor in its characteristic, without 2902; nil for the characteristic itself.
    public var descriptor: Int?

    /// Creates the position of a service, of a characteristic in it, or of a descriptor in that characteristic.
    public init(service: Int, characteristic: Int? = nil, descriptor: Int? = nil) {
        self.service = service
        self.characteristic = characteristic
        self.descriptor = descriptor
    }
}

extension AttributePosition: CustomStringConvertible {
    /// The position as text: `0`, `0.1` or `0.1.2`.
    public var description: String {
        [service, characteristic, descriptor].compactMap(\.self).map(String.init).joined(separator: ".")
    }
}

/// The attribute that a control applies to.
enum AttributeTarget: Sendable {
    case path(CharacteristicPath)
    case descriptor(BluetoothUUID, of: CharacteristicPath)
    case position(AttributePosition)
}

extension AttributeTarget: CustomStringConvertible {
    /// The UUID of the attribute, or its position.
    var description: String {
        switch self {
        case .path(let path): "\(path.uuid)"
        case .descriptor(let descriptor, let path): "\(path.uuid)/\(descriptor)"
        case .position(let position): "at \(position)"
        }
    }
}
