import AsyncBluetooth
import BluetoothProfiles
import CoreBluetoothClasses

extension CentralRole {
    /// Reads the signal strength of the link, in dBm.
    func readRSSI(of peripheral: Peripheral) async throws -> Int {
        let rssi = try await whereAllowed(by: peripheral) {
            try await self.step("waiting for the link") { try await peripheral.readRSSI() }
        }
        guard let rssi else { throw Failure(.failed, "the adapter does not report the signal strength of this link") }
        return rssi
    }

    /// Returns the result of an operation; nil if the device refuses it while the link is up.
    func whereAllowed<Value>(by peripheral: Peripheral, _ body: () async throws -> Value) async throws -> Value? {
        do {
            return try await body()
        } catch let failure as Failure where failure.status == .failed && peripheral.state == .connected {
            return nil
        }
    }

    func read(_ characteristic: DiscoveredCharacteristic, of peripheral: Peripheral) async throws -> Data {
        try await step("reading") { try await peripheral.read(characteristic.id) }
    }

    func read(_ descriptor: DiscoveredDescriptor, of peripheral: Peripheral) async throws -> Data {
        try await step("reading") { try await peripheral.read(descriptor: descriptor.id).bytes }
    }

    func write(_ data: Data, to descriptor: DiscoveredDescriptor, of peripheral: Peripheral) async throws {
        guard descriptor.uuid != CBUUID(string: CBUUIDClientCharacteristicConfigurationString) else {
            throw Failure(
                .failed, "Client Characteristic Configuration is written by subscribing: use \"bluectl subscribe\"")
        }
        try await step("writing") { try await peripheral.write(data, toDescriptor: descriptor.id) }
    }

    /// Writes a value.
    ///
    /// A write without response is followed by a request that has a response. Requests and commands keep their order,
    /// so the value is on its way when this returns.
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

    /// Returns the most bytes that one write takes.
    func maximumWriteLength(of peripheral: Peripheral, for type: CBCharacteristicWriteType) async throws -> Int {
        try await step("waiting for the link") { try await peripheral.maximumWriteLength(for: type) }
    }
}

extension CentralRole {
    func show(_ value: Data, of characteristic: DiscoveredCharacteristic) {
        show(AttributeText.value(value, of: characteristic.uuid), of: characteristic.uuid, characteristic.fields(value))
    }

    func show(_ value: Data, of descriptor: DiscoveredDescriptor, at characteristic: DiscoveredCharacteristic) {
        let own: JSONFields = [
            "descriptor": descriptor.uuid.uuidString, "handle": descriptor.handle, "value": HexText.of(value),
        ]
        show(AttributeText.value(value, of: descriptor.uuid), of: descriptor.uuid, characteristic.path.merging(own))
    }

    func show(_ text: String, of uuid: CBUUID, _ fields: JSONFields) {
        console.show(fields, ["\(AttributeText.label(uuid)): \(console.palette.value(text))"])
    }
}

extension DiscoveredCharacteristic {
    fileprivate var path: JSONFields { ["service": id.service.uuid.uuidString, "characteristic": uuid.uuidString] }

    func fields(_ value: Data) -> JSONFields { path.merging(["handle": handle, "value": HexText.of(value)]) }
}
