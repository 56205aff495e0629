public import CoreBluetooth

/// Identifies an attribute of a device by its path: ``ServiceID``, ``CharacteristicID``, ``DescriptorID``.
///
/// A malformed literal is a programming error and traps, as in `CBUUID(string:)`.
public protocol PathIdentifier: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The last component, which identifies the attribute itself.
    var component: AttributePathComponent { get }

    /// Parses a path; nil for malformed text.
    init?(_ text: String)
}

extension PathIdentifier {
    /// Reads a path, and traps if the text is not a path.
    public init(stringLiteral text: String) {
        guard let id = Self(text) else { preconditionFailure("\"\(text)\" is not a \(Self.self)") }
        self = id
    }

    /// The attribute's UUID.
    public var uuid: CBUUID { component.uuid }

    /// Parses the path of this attribute, and a last component of an attribute within it.
    static func parsed(_ text: String) -> (outer: Self, component: AttributePathComponent)? {
        guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")), let outer = Self(String(text[..<slash])),
            let component = AttributePathComponent(text[text.index(after: slash)...])
        else { return nil }
        return (outer, component)
    }
}

/// Identifies a service of a device: `"180D"`, or `"180D#2"` for the second one of that UUID.
public struct ServiceID: PathIdentifier {
    /// The service.
    public let component: AttributePathComponent

    /// Identifies a service.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - instance: The position among the services with that UUID, from 1.
    public init(_ uuid: CBUUID, instance: Int = 1) { component = AttributePathComponent(uuid, instance: instance) }

    /// Parses a path; nil for malformed text.
    public init?(_ text: String) {
        guard let component = AttributePathComponent(text[...]) else { return nil }
        self.component = component
    }

    /// The text form of the identifier.
    public var description: String { "\(component)" }
}

/// Identifies a characteristic of a device by its path: `"180D/2A37"`, or `"180D/2A37#2"` for the second one of that
/// UUID.
public struct CharacteristicID: PathIdentifier {
    /// The service of the characteristic.
    public let service: ServiceID
    /// The characteristic within the service.
    public let component: AttributePathComponent

    /// Identifies a characteristic.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - instance: The position among the characteristics with that UUID within the service, from 1.
    ///   - service: The service of the characteristic.
    public init(_ uuid: CBUUID, instance: Int = 1, in service: ServiceID) {
        self.service = service
        component = AttributePathComponent(uuid, instance: instance)
    }

    /// Parses a path; nil for malformed text.
    public init?(_ text: String) {
        guard let (service, component) = ServiceID.parsed(text) else { return nil }
        self.service = service
        self.component = component
    }

    /// The text form of the path.
    public var description: String { "\(service)/\(component)" }
}

/// Identifies a descriptor of a device by its path: `"180D/2A37/2901"`.
public struct DescriptorID: PathIdentifier {
    /// The characteristic of the descriptor.
    public let characteristic: CharacteristicID
    /// The descriptor within the characteristic.
    public let component: AttributePathComponent

    /// Identifies a descriptor.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - instance: The position among the descriptors with that UUID within the characteristic, from 1.
    ///   - characteristic: The characteristic of the descriptor.
    public init(_ uuid: CBUUID, instance: Int = 1, of characteristic: CharacteristicID) {
        self.characteristic = characteristic
        component = AttributePathComponent(uuid, instance: instance)
    }

    /// Parses a path; nil for malformed text.
    public init?(_ text: String) {
        guard let (characteristic, component) = CharacteristicID.parsed(text) else { return nil }
        self.characteristic = characteristic
        self.component = component
    }

    /// The text form of the path.
    public var description: String { "\(characteristic)/\(component)" }
}

/// One part of a path to an attribute: a UUID, and the position among the attributes with that UUID.
public struct AttributePathComponent: Hashable, Sendable, CustomStringConvertible {
    /// The attribute's type.
    public let uuid: CBUUID
    /// The position among the attributes with this UUID, in the device's order, from 1.
    public let instance: Int
    /// The hash of the UUID, the costly part of a look-up.
    private let uuidHash: Int

    /// Identifies an attribute by its UUID.
    ///
    /// - Parameters:
    ///   - uuid: The attribute's type.
    ///   - instance: The position among the attributes with that UUID, from 1; less is taken as 1.
    public init(_ uuid: CBUUID, instance: Int = 1) {
        self.uuid = uuid
        self.instance = max(1, instance)
        uuidHash = uuid.hash
    }

    /// Whether both identify the same attribute.
    public static func == (left: Self, right: Self) -> Bool {
        left.instance == right.instance && (left.uuid === right.uuid || left.uuid == right.uuid)
    }

    /// Hashes UUID and instance.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(uuidHash)
        hasher.combine(instance)
    }

    /// Parses `2A37` or, for the second one of that UUID, `2A37#2`.
    init?(_ text: Substring) {
        let mark = text.utf8.firstIndex(of: UInt8(ascii: "#"))
        let uuid = text[..<(mark ?? text.endIndex)]
        let instance = mark.map { Int(text[text.utf8.index(after: $0)...]) } ?? 1
        guard Self.isUUID(uuid), let instance, instance > 0 else { return nil }
        self.init(CBUUID(string: String(uuid)), instance: instance)
    }

    /// Returns components for UUIDs in the order of their attributes; equal UUIDs are instances 1, 2, ….
    package static func numbered(_ uuids: [CBUUID]) -> [AttributePathComponent] {
        var counts: [CBUUID: Int] = [:]
        return uuids.map { uuid in
            counts[uuid, default: 0] += 1
            return AttributePathComponent(uuid, instance: counts[uuid, default: 1])
        }
    }

    /// Whether `CBUUID` accepts the text; it traps otherwise.
    private static func isUUID(_ text: Substring) -> Bool {
        if text.utf8.count == 36 { return UUID(uuidString: String(text)) != nil }
        return (text.utf8.count == 4 || text.utf8.count == 8)
            && text.utf8.allSatisfy { Unicode.Scalar($0).properties.isASCIIHexDigit }
    }

    /// `2A37`, or `2A37#2`.
    public var description: String { instance == 1 ? uuid.uuidString : "\(uuid.uuidString)#\(instance)" }

    /// Returns the identified attribute among attributes in the device's order.
    func pick<Attribute: CBAttribute>(from attributes: [Attribute]?) -> Attribute? {
        var remaining = instance
        for attribute in attributes ?? [] where attribute.uuid == uuid {
            remaining -= 1
            if remaining == 0 { return attribute }
        }
        return nil
    }
}

/// The value of a descriptor, typed by its UUID.
public enum DescriptorValue: Hashable, Sendable {
    /// Bits, for 2900, 2902 and 2903.
    case number(Int)
    /// A description for people, for 2901.
    case text(String)
    /// Bytes, for all other descriptors.
    case data(Data)

    init(_ value: Any?) {
        switch value {
        case let text as String: self = .text(text)
        case let data as Data: self = .data(data)
        case let number as NSNumber: self = .number(number.intValue)
        default: self = .data(Data())
        }
    }
}
