import AsyncBluetooth
import CoreBluetoothPackage

/// Reading and writing.
extension CentralRole {
    /// Reads the signal strength of the link, in dBm.
    func readRSSI(of peripheral: Peripheral) async throws -> Int {
        let rssi = try await whereAllowed(by: peripheral) {
            try await self.step("waiting for the link") { try await peripheral.readRSSI() }
        }
        guard let rssi else { throw Failure(.failed, "the adapter does not report the signal strength of this link") }
        return rssi
    }

    /// The result of an operation; nil if the device refuses it while the link is up.
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
            throw Failure(
                .failed, "Client Characteristic Configuration is written by subscribing: use \"bluectl subscribe\"")
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
        // Any response suffices: not every backend can read the signal strength.
        _ = try await whereAllowed(by: peripheral) {
            try await self.step("waiting for the link") { try await peripheral.readRSSI() }
        }
    }

    /// The most bytes that one write takes.
    func maximumWriteLength(of peripheral: Peripheral, for type: CBCharacteristicWriteType) async throws -> Int {
        try await step("waiting for the link") { try await peripheral.maximumWriteLength(for: type) }
    }
}

extension DescriptorValue {
    /// The bytes that ATT carries.
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

/// A value that was read, written or notified, as JSON.
struct ValueRecord: Encodable, Equatable {
    let service: String?
    let characteristic: String
    /// The UUID of the descriptor, if the value is that of a descriptor.
    var descriptor: String?
    var handle: Int?
    let value: String
    /// The meaning of the value, if its layout is known and the command decodes it.
    var text: String?
    /// The reason why the value cannot be decoded.
    var error: String?
    /// "emulator" where the device is emulated; else nil.
    let backend: String?
}

extension ValueRecord {
    /// The value `data` of a characteristic.
    init(_ characteristic: DiscoveredCharacteristic, _ data: Data, backend: String?) {
        service = characteristic.id.service.uuid.uuidString
        self.characteristic = characteristic.uuid.uuidString
        handle = characteristic.handle.map { Int($0) }
        value = HexText.of(data)
        self.backend = backend
    }
}
