public import AsyncBluetooth
public import CoreBluetooth

/// A characteristic of a profile: its UUIDs, its properties and the type of its values.
///
/// Clients and servers of a profile share it, so that a layout is written once.
public struct GATTCharacteristic<Value: GATTValue>: Hashable, Sendable, CustomStringConvertible {
    /// The service of the characteristic.
    public let service: CBUUID
    /// The UUID of the characteristic.
    public let uuid: CBUUID
    /// The operations that a server permits; clients ignore them.
    public let properties: CBCharacteristicProperties

    /// Creates a characteristic of a service.
    public init(_ uuid: CBUUID, in service: CBUUID, _ properties: CBCharacteristicProperties) {
        self.uuid = uuid
        self.service = service
        self.properties = properties
    }

    /// Creates a characteristic of a service, both by their UUIDs as text; malformed text traps.
    public init(_ uuid: String, in service: String, _ properties: CBCharacteristicProperties) {
        self.init(CBUUID(string: uuid), in: CBUUID(string: service), properties)
    }

    /// The path: `180D/2A37`.
    public var description: String { "\(service.uuidString)/\(uuid.uuidString)" }

    /// Whether both have the same UUIDs, whatever their properties.
    public static func == (left: Self, right: Self) -> Bool { left.service == right.service && left.uuid == right.uuid }

    /// Hashes both UUIDs.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(service)
        hasher.combine(uuid)
    }
}

extension GATTCharacteristic {
    /// The path for a client: the first characteristic with its UUID in the first service with its UUID.
    public var id: CharacteristicID { CharacteristicID(uuid, in: ServiceID(service)) }
}

/// Typed values.
///
/// A malformed value is a `BluetoothError` with the reason `malformedValue`, whose
/// ``AsyncBluetooth/BluetoothError/valueError`` names the field.
extension Peripheral {
    /// Reads a value.
    ///
    /// - Throws: The errors of reading bytes, and ``AsyncBluetooth/BluetoothError/Reason/malformedValue(_:)``.
    public func read<Value>(_ characteristic: GATTCharacteristic<Value>) async throws -> Value {
        try decoded(await read(characteristic.id), .read, characteristic.id)
    }

    /// Reads a value of a descriptor.
    ///
    /// - Throws: The errors of reading bytes, and ``AsyncBluetooth/BluetoothError/Reason/malformedValue(_:)``.
    public func read<Value: GATTValue>(_ type: Value.Type, descriptor: DescriptorID) async throws -> Value {
        try decoded(await read(descriptor: descriptor).bytes, .read, descriptor)
    }

    /// Writes a value, and waits for the device's response.
    public func write<Value>(_ value: Value, to characteristic: GATTCharacteristic<Value>) async throws {
        try await write(value.encoded, to: characteristic.id)
    }

    /// Writes a value without response; returns when the system has accepted it, not when it has arrived.
    public func writeWithoutResponse<Value>(_ value: Value, to characteristic: GATTCharacteristic<Value>) async throws {
        try await writeWithoutResponse(value.encoded, to: characteristic.id)
    }

    /// Returns the notifications, or indications, of a characteristic.
    ///
    /// A malformed value ends the sequence by throwing; ``results(of:)`` continues.
    public func values<Value>(
        of characteristic: GATTCharacteristic<Value>
    ) -> AsyncThrowingMapSequence<ValueSequence<Data>, Value> {
        notifications(of: characteristic.id).map { try self.decoded($0, .notifications, characteristic.id) }
    }

    /// Returns the notifications, or indications, of a characteristic, with errors in place of malformed ones.
    public func results<Value>(
        of characteristic: GATTCharacteristic<Value>
    ) -> AsyncMapSequence<ValueSequence<Data>, Result<Value, BluetoothError>> {
        notifications(of: characteristic.id).map { data in
            do throws(BluetoothError) {
                return .success(try self.decoded(data, .notifications, characteristic.id))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Reads a value of an optional characteristic.
    ///
    /// - Returns: nil if the device lacks the characteristic; a missing service throws.
    public func readIfPresent<Value>(_ characteristic: GATTCharacteristic<Value>) async throws -> Value? {
        let present = try await characteristics(of: ServiceID(characteristic.service))
        guard present.contains(where: { $0.id == characteristic.id }) else { return nil }
        return try await read(characteristic)
    }

    /// Decodes a value of the device.
    func decoded<Value: GATTValue>(
        _ data: Data, _ operation: BluetoothError.Operation, _ path: any PathIdentifier
    ) throws(BluetoothError) -> Value {
        do {
            return try Value(decoding: data)
        } catch {
            throw BluetoothError(
                BluetoothError.Context(
                    operation, peer: identifier, peerName: name, path: path.description), .malformedValue(error))
        }
    }
}

extension DescriptorValue {
    /// The bytes that ATT carries.
    package var bytes: Data {
        switch self {
        case .number(let bits): UInt16(truncatingIfNeeded: bits).encoded
        case .text(let text): text.encoded
        case .data(let data): data
        }
    }
}

extension BluetoothError {
    /// The error of a malformed value, which names the field; nil for other reasons.
    public var valueError: GATTValueError? {
        if case .malformedValue(let error) = reason { error as? GATTValueError } else { nil }
    }
}
