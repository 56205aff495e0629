public import CoreBluetooth

/// Names a service of a device: `"180D"`, or `"180D#2"` for the second one of that UUID.
///
/// As a literal it must be well formed: other text is a programming error and traps, as in `CBUUID(string:)`.
public struct ServiceID: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The service.
    public let step: AttributeStep

    /// Names a service.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - number: Which one of that UUID, from 1.
    public init(_ uuid: CBUUID, number: Int = 1) { step = AttributeStep(uuid, number: number) }

    /// Reads a name: nil if it is none.
    public init?(_ text: String) {
        guard let step = AttributeStep(text[...]) else { return nil }
        self.step = step
    }

    /// Reads a name, and traps if it is none.
    public init(stringLiteral text: String) {
        guard let id = Self(text) else { preconditionFailure("\"\(text)\" does not name a service, as \"180D\" does") }
        self = id
    }

    /// The service's UUID.
    public var uuid: CBUUID { step.uuid }

    /// The name as it is read.
    public var description: String { "\(step)" }
}

/// Names a characteristic of a device by its path: `"180D/2A37"`, or `"180D/2A37#2"` for the second one of that UUID.
///
/// As a literal it must be well formed: other text is a programming error and traps, as in `CBUUID(string:)`.
public struct CharacteristicID: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The service that it is in.
    public let service: ServiceID
    /// The characteristic within the service.
    public let step: AttributeStep

    /// Names a characteristic.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - number: Which one of that UUID within the service, from 1.
    ///   - service: The service that it is in.
    public init(_ uuid: CBUUID, number: Int = 1, in service: ServiceID) {
        self.service = service
        step = AttributeStep(uuid, number: number)
    }

    /// Reads a path: nil if it is none.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let service = ServiceID(String(parts[0])), let step = AttributeStep(parts[1]) else {
            return nil
        }
        self.service = service
        self.step = step
    }

    /// Reads a path, and traps if it is none.
    public init(stringLiteral text: String) {
        guard let id = Self(text) else {
            preconditionFailure("\"\(text)\" does not name a characteristic, as \"180D/2A37\" does")
        }
        self = id
    }

    /// The characteristic's UUID.
    public var uuid: CBUUID { step.uuid }

    /// The path as it is read.
    public var description: String { "\(service)/\(step)" }
}

/// Names a descriptor of a device by its path: `"180D/2A37/2901"`.
///
/// As a literal it must be well formed: other text is a programming error and traps, as in `CBUUID(string:)`.
public struct DescriptorID: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The characteristic that it describes.
    public let characteristic: CharacteristicID
    /// The descriptor within the characteristic.
    public let step: AttributeStep

    /// Names a descriptor.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - number: Which one of that UUID within the characteristic, from 1.
    ///   - characteristic: The characteristic that it describes.
    public init(_ uuid: CBUUID, number: Int = 1, of characteristic: CharacteristicID) {
        self.characteristic = characteristic
        step = AttributeStep(uuid, number: number)
    }

    /// Reads a path: nil if it is none.
    public init?(_ text: String) {
        guard let slash = text.lastIndex(of: "/"), let characteristic = CharacteristicID(String(text[..<slash])),
            let step = AttributeStep(text[text.index(after: slash)...])
        else { return nil }
        self.characteristic = characteristic
        self.step = step
    }

    /// Reads a path, and traps if it is none.
    public init(stringLiteral text: String) {
        guard let id = Self(text) else {
            preconditionFailure("\"\(text)\" does not name a descriptor, as \"180D/2A37/2901\" does")
        }
        self = id
    }

    /// The descriptor's UUID.
    public var uuid: CBUUID { step.uuid }

    /// The path as it is read.
    public var description: String { "\(characteristic)/\(step)" }
}
