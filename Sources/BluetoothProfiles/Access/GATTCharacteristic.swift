public import CoreBluetooth

/// A characteristic of a profile: where it is, what it can do and what its values are.
///
/// Clients and servers of a profile share it, so that a layout is written once.
public struct GATTCharacteristic<Value: GATTValue>: Hashable, Sendable, CustomStringConvertible {
    /// The service that it is in.
    public let service: CBUUID
    /// Its UUID.
    public let uuid: CBUUID
    /// What a server lets clients do; a client does not look at it.
    public let properties: CBCharacteristicProperties

    /// A characteristic of a service.
    public init(_ uuid: CBUUID, in service: CBUUID, _ properties: CBCharacteristicProperties) {
        self.uuid = uuid
        self.service = service
        self.properties = properties
    }

    /// A characteristic of a service, both by their UUIDs as text, which traps where it is none.
    public init(_ uuid: String, in service: String, _ properties: CBCharacteristicProperties) {
        self.init(CBUUID(string: uuid), in: CBUUID(string: service), properties)
    }

    /// The path: `180D/2A37`.
    public var description: String { "\(service.uuidString)/\(uuid.uuidString)" }

    /// Whether both are the same characteristic, whatever they can do.
    public static func == (left: Self, right: Self) -> Bool { left.service == right.service && left.uuid == right.uuid }

    /// Hashes both UUIDs.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(service)
        hasher.combine(uuid)
    }
}
