import AsyncBluetooth
import CoreBluetoothPackage

/// A service of a device, as it was discovered.
struct DiscoveredService: Sendable {
    let id: ServiceID
    let isPrimary: Bool
    let handle: UInt16?
    let characteristics: [DiscoveredCharacteristic]

    var uuid: CBUUID { id.uuid }
}

/// A characteristic of a device, as it was discovered.
struct DiscoveredCharacteristic: Sendable {
    let id: CharacteristicID
    let properties: CBCharacteristicProperties
    let handle: UInt16?

    var uuid: CBUUID { id.uuid }
}

/// A descriptor of a device, as it was discovered.
struct DiscoveredDescriptor: Sendable {
    let id: DescriptorID
    let handle: UInt16?

    var uuid: CBUUID { id.uuid }
}

/// Discovery.
extension CentralRole {
    /// Discovers the services, those that others include too, with their characteristics.
    ///
    /// - Returns: The services in the device's order.
    func discover(_ peripheral: Peripheral) async throws -> [DiscoveredService] {
        defer { console.clearProgress() }
        console.progress("Discovering services…")
        var ids = try await step("discovering services") { try await peripheral.services() }
        var services: [DiscoveredService] = []
        // The list grows as included services are met.
        while services.count < ids.count {
            let id = ids[services.count]
            let position = "\(services.count + 1)/\(ids.count)"
            console.progress("Discovering \(AttributeText.label(id.uuid))… \(position)")
            services.append(
                try await step("discovering characteristics") { try await Self.service(id, of: peripheral) })
            let included = try await step("discovering services") { try await peripheral.includedServices(of: id) }
            for id in included where !ids.contains(id) { ids.append(id) }
        }
        discovered[peripheral] = services
        return services
    }

    private static func service(_ id: ServiceID, of peripheral: Peripheral) async throws -> DiscoveredService {
        var characteristics: [DiscoveredCharacteristic] = []
        for found in try await peripheral.characteristics(of: id) {
            characteristics.append(
                DiscoveredCharacteristic(
                    id: found.id, properties: found.properties, handle: try await peripheral.handle(of: found.id)))
        }
        return DiscoveredService(
            id: id, isPrimary: try await peripheral.isPrimary(id), handle: try await peripheral.handle(of: id),
            characteristics: characteristics)
    }

    /// Discovers the descriptors of a characteristic.
    func descriptors(
        of characteristic: DiscoveredCharacteristic, at peripheral: Peripheral
    ) async throws -> [DiscoveredDescriptor] {
        try await step("discovering descriptors") {
            var descriptors: [DiscoveredDescriptor] = []
            for id in try await peripheral.descriptors(of: characteristic.id) {
                descriptors.append(DiscoveredDescriptor(id: id, handle: try await peripheral.handle(of: id)))
            }
            return descriptors
        }
    }

    /// Connects to the device that is meant and finds the characteristic that is meant.
    func locate(
        _ path: AttributePath, on query: DeviceQuery
    ) async throws -> (peripheral: Peripheral, characteristic: DiscoveredCharacteristic) {
        let peripheral = try await find(query)
        try await connect(peripheral)
        return (peripheral, try await locate(path, at: peripheral))
    }

    /// Finds the characteristic that is meant at a device that is connected.
    func locate(_ path: AttributePath, at peripheral: Peripheral) async throws -> DiscoveredCharacteristic {
        var services = try await discover(peripheral)
        if let wanted = path.service {
            let identities = services.map { AttributeIdentity($0.uuid, $0.handle) }
            services = [services[try wanted.index(in: identities, kind: "service")]]
        }
        let characteristics = services.flatMap(\.characteristics)
        let identities = characteristics.map { AttributeIdentity($0.uuid, $0.handle) }
        return characteristics[try path.characteristic.index(in: identities, kind: "characteristic")]
    }

    /// Finds the descriptor that is meant.
    func locate(
        _ query: AttributeQuery, of characteristic: DiscoveredCharacteristic, at peripheral: Peripheral
    ) async throws -> DiscoveredDescriptor {
        let descriptors = try await descriptors(of: characteristic, at: peripheral)
        let identities = descriptors.map { AttributeIdentity($0.uuid, $0.handle) }
        return descriptors[try query.index(in: identities, kind: "descriptor", of: "the characteristic")]
    }
}

/// Reading and writing.
extension CentralRole {
    /// Reads the signal strength of the link, in dBm.
    func readRSSI(of peripheral: Peripheral) async throws -> Int {
        let rssi = try await whereAllowed(by: peripheral) {
            try await self.step("waiting for the link") { try await peripheral.readRSSI() }
        }
        guard let rssi else { throw Failure(.failed, "the radio does not tell the signal strength of this link") }
        return rssi
    }

    /// What a device gives; nil where it refuses, while the link is up.
    func whereAllowed<Value>(by peripheral: Peripheral, _ body: () async throws -> Value) async throws -> Value? {
        do {
            return try await body()
        } catch let failure as Failure where failure.status == .failed && peripheral.state == .connected {
            return nil
        }
    }

    /// Reads a value.
    func read(_ characteristic: DiscoveredCharacteristic, of peripheral: Peripheral) async throws -> Data {
        try await step("reading") { try await peripheral.read(characteristic.id) }
    }

    /// Reads a descriptor.
    func read(_ descriptor: DiscoveredDescriptor, of peripheral: Peripheral) async throws -> Data {
        try await step("reading") { try await peripheral.read(descriptor: descriptor.id).bytes }
    }

    /// Writes a descriptor.
    func write(_ data: Data, to descriptor: DiscoveredDescriptor, of peripheral: Peripheral) async throws {
        guard descriptor.uuid != CBUUID(string: CBUUIDClientCharacteristicConfigurationString) else {
            throw Failure(.failed, "Client Characteristic Configuration is written by subscribing: bluectl subscribe")
        }
        try await step("writing") { try await peripheral.write(data, toDescriptor: descriptor.id) }
    }

    /// Writes a value.
    ///
    /// Without a response there is no answer; then a request that has one is sent behind it, because requests and
    /// commands keep their order, so that the value is on its way when this returns.
    func write(
        _ data: Data, to characteristic: DiscoveredCharacteristic, of peripheral: Peripheral,
        type: CBCharacteristicWriteType
    ) async throws {
        guard type == .withoutResponse else {
            return try await step("writing") { try await peripheral.write(data, to: characteristic.id) }
        }
        try await step("waiting for room to write") {
            try await peripheral.writeWithoutResponse(data, to: characteristic.id)
        }
        // That there is an answer is what counts: not every backend can read it.
        _ = try await whereAllowed(by: peripheral) {
            try await self.step("waiting for the link") { try await peripheral.readRSSI() }
        }
    }

    /// The most bytes that one write takes.
    func maximumWriteLength(of peripheral: Peripheral, for type: CBCharacteristicWriteType) async throws -> Int {
        try await step("waiting for the link") { try await peripheral.maximumWriteLength(for: type) }
    }
}

extension AttributeIdentity {
    init(_ uuid: CBUUID, _ handle: UInt16?) { self.init(uuid: uuid.bluetoothUUID, handle: handle) }
}

extension DescriptorValue {
    /// The value as the bytes on the air.
    fileprivate var bytes: Data {
        switch self {
        case .data(let data): data
        case .text(let text): Data(text.utf8)
        case .number(let number):
            Data([UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)])
        }
    }
}

/// Values for people and as JSON.
extension CentralRole {
    /// Prints a value of a characteristic.
    func show(_ value: Data, of characteristic: DiscoveredCharacteristic) {
        guard !console.isJSON else {
            return console.print(json: ValueRecord(characteristic, value, backend: emulatedBackend))
        }
        show(value, of: characteristic.uuid)
    }

    /// Prints a value of a descriptor.
    func show(_ value: Data, of descriptor: DiscoveredDescriptor, at characteristic: DiscoveredCharacteristic) {
        guard !console.isJSON else {
            var record = ValueRecord(characteristic, value, backend: emulatedBackend)
            record.descriptor = descriptor.uuid.uuidString
            record.handle = descriptor.handle.map { Int($0) }
            return console.print(json: record)
        }
        show(value, of: descriptor.uuid)
    }

    private func show(_ value: Data, of uuid: CBUUID) {
        console.print("\(AttributeText.label(uuid)): \(console.palette.value(AttributeText.value(value, of: uuid)))")
    }
}
