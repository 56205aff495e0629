/// The place of a service, a characteristic or a descriptor in a device, where equal UUIDs do not distinguish them.
public struct AttributePosition: Hashable, Sendable, Codable {
    /// The number of the service: the services of the description come first, from 0 on, then those that were added, in that
    /// order.
    ///
    /// The services 1800 and 1801, which every device has, do not count. The number of a removed service is not used again.
    public var service: Int
    /// The index of the characteristic in its service; nil for the service itself.
    public var characteristic: Int?
    /// The index of the descriptor in its characteristic, without 2902; nil for the characteristic itself.
    public var descriptor: Int?

    /// The place of a service, of a characteristic in it, or of a descriptor in that.
    public init(service: Int, characteristic: Int? = nil, descriptor: Int? = nil) {
        self.service = service
        self.characteristic = characteristic
        self.descriptor = descriptor
    }
}

extension AttributePosition: CustomStringConvertible {
    /// `0`, `0.1` or `0.1.2`.
    public var description: String {
        [service, characteristic, descriptor].compactMap(\.self).map(String.init).joined(separator: ".")
    }
}

/// How a control names the characteristic or the descriptor that it is for.
enum AttributeTarget: Sendable {
    case path(CharacteristicPath)
    case position(AttributePosition)
}

extension AttributeTarget: CustomStringConvertible {
    /// The type of the attribute, or its place.
    var description: String {
        switch self {
        case .path(let path): "\(path.uuid)"
        case .position(let position): "at \(position)"
        }
    }
}
