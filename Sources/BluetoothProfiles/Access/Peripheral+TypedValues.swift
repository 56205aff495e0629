public import AsyncBluetooth
public import CoreBluetooth

extension GATTCharacteristic {
    /// Where a client finds it: the first one of its UUID in the first service of its UUID.
    public var id: CharacteristicID { CharacteristicID(uuid, in: ServiceID(service)) }
}

/// Typed values.
extension Peripheral {
    /// Reads a value.
    ///
    /// - Throws: ``GATTValueError`` where it is malformed, and what reading bytes throws.
    public func read<Value>(_ characteristic: GATTCharacteristic<Value>) async throws -> Value {
        try Value(decoding: await read(characteristic.id))
    }

    /// Writes a value, and waits for the device's response.
    public func write<Value>(_ value: Value, to characteristic: GATTCharacteristic<Value>) async throws {
        try await write(value.encoded, to: characteristic.id)
    }

    /// Writes a value without response: waits until there is room for it, not until it arrived.
    public func writeWithoutResponse<Value>(_ value: Value, to characteristic: GATTCharacteristic<Value>) async throws {
        try await writeWithoutResponse(value.encoded, to: characteristic.id)
    }

    /// The notifications, or indications, of a characteristic.
    ///
    /// A malformed one ends the sequence by throwing ``GATTValueError``; ``results(of:)`` goes on.
    public func values<Value>(
        of characteristic: GATTCharacteristic<Value>
    ) -> AsyncThrowingMapSequence<ValueSequence<Data>, Value> {
        notifications(of: characteristic.id).map { try Value(decoding: $0) }
    }

    /// The notifications, or indications, of a characteristic, and the errors of those that are malformed.
    public func results<Value>(
        of characteristic: GATTCharacteristic<Value>
    ) -> AsyncMapSequence<ValueSequence<Data>, Result<Value, GATTValueError>> {
        notifications(of: characteristic.id).map { data in
            do throws(GATTValueError) {
                return .success(try Value(decoding: data))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Reads a value that a device need not have.
    ///
    /// - Returns: nil where the device lacks the characteristic; a missing service throws.
    public func readIfPresent<Value>(_ characteristic: GATTCharacteristic<Value>) async throws -> Value? {
        let present = try await characteristics(of: ServiceID(characteristic.service))
        guard present.contains(where: { $0.id == characteristic.id }) else { return nil }
        return try await read(characteristic)
    }
}
