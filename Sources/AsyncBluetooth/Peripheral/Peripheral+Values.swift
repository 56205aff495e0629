public import CoreBluetooth

/// Values of characteristics and descriptors.
extension Peripheral {
    /// Reads a value, however long.
    public func read(_ characteristic: CharacteristicID) async throws -> Data {
        try await run(.read, characteristic) {
            let found = try await self.core.characteristic(characteristic)
            guard case .value(let value) = try await self.core.perform(.read(found.attribute), on: found.link) else {
                throw Failure(.refused(CBError(system: .unknown)))
            }
            return value
        }
    }

    /// Writes a value, and waits for the device's response.
    ///
    /// - Parameters:
    ///   - value: At most 512 bytes; more throw ``BluetoothError/Reason/valueTooLong(length:maximum:)``.
    ///   - characteristic: Where it goes.
    public func write(_ value: Data, to characteristic: CharacteristicID) async throws {
        try await run(.write, characteristic) {
            let found = try await self.core.characteristic(characteristic)
            try self.check(value, .withResponse)
            _ = try await self.core.perform(.write(found.attribute, value), on: found.link)
        }
    }

    /// Writes a value without response: waits until there is room for it, not until it arrived.
    ///
    /// - Parameters:
    ///   - value: As much as one packet carries; more throws
    ///     ``BluetoothError/Reason/valueTooLong(length:maximum:)``.
    ///   - characteristic: Where it goes.
    public func writeWithoutResponse(_ value: Data, to characteristic: CharacteristicID) async throws {
        try await run(.writeWithoutResponse, characteristic) {
            let found = try await self.core.characteristic(characteristic)
            guard found.attribute.properties.contains(.writeWithoutResponse) else {
                throw Failure(.notSupported(.writeWithoutResponse))
            }
            try self.check(value, .withoutResponse)
            try await self.core.writeWithoutResponse(value, to: found.attribute, on: found.link)
        }
    }

    private func check(_ value: Data, _ type: CBCharacteristicWriteType) throws {
        let maximum = core.object.maximumWriteValueLength(for: type)
        guard value.count <= maximum else { throw Failure(.valueTooLong(length: value.count, maximum: maximum)) }
    }

    /// Reads a descriptor's value.
    public func read(descriptor: DescriptorID) async throws -> DescriptorValue {
        try await run(.read, descriptor) {
            let found = try await self.core.descriptor(descriptor)
            let answer = try await self.core.perform(.readDescriptor(found.attribute), on: found.link)
            guard case .descriptor(let value) = answer else { throw Failure(.refused(CBError(system: .unknown))) }
            return value
        }
    }

    /// Writes a descriptor's value; not that of 2902, which notifications write.
    public func write(_ value: Data, toDescriptor descriptor: DescriptorID) async throws {
        try await run(.write, descriptor) {
            guard descriptor.uuid != CBUUID(string: "2902") else {
                throw Failure(.refused(CBATTError(system: .writeNotPermitted)))
            }
            try self.check(value, .withResponse)
            let found = try await self.core.descriptor(descriptor)
            _ = try await self.core.perform(.writeDescriptor(found.attribute, value), on: found.link)
        }
    }
}
