import CoreBluetoothPackage

/// Discovery, reading and writing.
extension Session {
    /// Discovers the services with their characteristics.
    ///
    /// - Parameter includesSecondary: Whether services that only others include are discovered too.
    /// - Returns: The services in the device's order.
    func discover(_ peripheral: CBPeripheral, includesSecondary: Bool = true) async throws -> [CBService] {
        defer { console.clearProgress() }
        console.progress("Discovering services…")
        try await perform(.services) { peripheral.discoverServices(nil) }
        var services = peripheral.services ?? []
        var index = 0
        // The list grows as included services are met.
        while index < services.count {
            let service = services[index]
            index += 1
            console.progress("Discovering \(AttributeText.label(service.uuid))… \(index)/\(services.count)")
            try await perform(.characteristics(ObjectIdentifier(service))) {
                peripheral.discoverCharacteristics(nil, for: service)
            }
            guard includesSecondary else { continue }
            try await perform(.includedServices(ObjectIdentifier(service))) {
                peripheral.discoverIncludedServices(nil, for: service)
            }
            for included in service.includedServices ?? [] where !services.contains(where: { $0 === included }) {
                services.append(included)
            }
        }
        return services
    }

    /// Connects to the device that is meant and finds the characteristic that is meant.
    func locate(
        _ path: AttributePath, on query: DeviceQuery
    ) async throws -> (peripheral: CBPeripheral, characteristic: CBCharacteristic) {
        let peripheral = try await find(query)
        try await connect(peripheral)
        return (peripheral, try await locate(path, at: peripheral))
    }

    /// Finds the characteristic that is meant at a device that is connected.
    func locate(_ path: AttributePath, at peripheral: CBPeripheral) async throws -> CBCharacteristic {
        var services = try await discover(peripheral)
        if let wanted = path.service {
            let identities = services.map { AttributeIdentity(uuid: $0.uuid.bluetoothUUID, handle: $0.handle) }
            services = [services[try wanted.index(in: identities, kind: "service")]]
        }
        let characteristics = services.flatMap { $0.characteristics ?? [] }
        let identities = characteristics.map { AttributeIdentity(uuid: $0.uuid.bluetoothUUID, handle: $0.handle) }
        let index = try path.characteristic.index(in: identities, kind: "characteristic")
        return characteristics[index]
    }

    /// Finds the descriptor that is meant.
    func locate(
        _ query: AttributeQuery, of characteristic: CBCharacteristic, at peripheral: CBPeripheral
    ) async throws -> CBDescriptor {
        try await perform(.descriptors(ObjectIdentifier(characteristic))) {
            peripheral.discoverDescriptors(for: characteristic)
        }
        let descriptors = characteristic.descriptors ?? []
        let identities = descriptors.map { AttributeIdentity(uuid: $0.uuid.bluetoothUUID, handle: $0.handle) }
        return descriptors[try query.index(in: identities, kind: "descriptor", of: "the characteristic")]
    }

    /// Reads the signal strength of the link, in dBm.
    func readRSSI(of peripheral: CBPeripheral) async throws -> Int {
        lastRSSI = nil
        try await perform(.rssi) { peripheral.readRSSI() }
        guard let lastRSSI else { throw Failure(.failed, "the radio does not tell the signal strength of this link") }
        return lastRSSI
    }

    /// Writes a descriptor.
    func write(_ data: Data, to descriptor: CBDescriptor, of peripheral: CBPeripheral) async throws {
        guard descriptor.uuid != CBUUID(string: CBUUIDClientCharacteristicConfigurationString) else {
            throw Failure(.failed, "Client Characteristic Configuration is written by subscribing: bluectl subscribe")
        }
        try await perform(.descriptorWritten(ObjectIdentifier(descriptor))) {
            peripheral.writeValue(data, for: descriptor)
        }
    }

    /// Reads a value.
    func read(_ characteristic: CBCharacteristic, of peripheral: CBPeripheral) async throws -> Data {
        try await perform(.value(ObjectIdentifier(characteristic))) { peripheral.readValue(for: characteristic) }
        return characteristic.value ?? Data()
    }

    /// Reads a descriptor.
    func read(_ descriptor: CBDescriptor, of peripheral: CBPeripheral) async throws -> Data {
        try await perform(.descriptorValue(ObjectIdentifier(descriptor))) { peripheral.readValue(for: descriptor) }
        return descriptor.bytes
    }

    /// Writes a value.
    ///
    /// Without a response there is no answer; then a request that has one is sent behind it, because requests and
    /// commands keep their order, so that the value is on its way when this returns.
    func write(
        _ data: Data, to characteristic: CBCharacteristic, of peripheral: CBPeripheral,
        type: CBCharacteristicWriteType
    ) async throws {
        guard type == .withoutResponse else {
            return try await perform(.written(ObjectIdentifier(characteristic))) {
                peripheral.writeValue(data, for: characteristic, type: type)
            }
        }
        let maximum = peripheral.maximumWriteValueLength(for: type)
        guard data.count <= maximum else {
            throw Failure(.failed, "\(data.count) bytes are too long: without response this link takes \(maximum)")
        }
        if !peripheral.canSendWriteWithoutResponse { try await perform(.readyToWrite) }
        try await perform(.rssi) {
            peripheral.writeValue(data, for: characteristic, type: type)
            peripheral.readRSSI()
        }
    }
}

extension CBDescriptor {
    /// The value as the bytes on the air.
    var bytes: Data {
        switch value {
        case let data as Data: data
        case let text as String: Data(text.utf8)
        case let number as NSNumber:
            Data([UInt8(truncatingIfNeeded: number.intValue), UInt8(truncatingIfNeeded: number.intValue >> 8)])
        default: Data()
        }
    }
}
