import BluetoothEmulator
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothMock

/// The members that tests access with `@testable import`.
@Suite(.emulator()) struct TestAccessTests {
    private let emulator = Emulator.current
    private let sensor = Sensor()

    @Test func `A value that a test sets counts until the peripheral's next`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let characteristic = try #require(peripheral.characteristic)
        characteristic.value = Data([9])
        #expect(characteristic.value == Data([9]))
        characteristic.value = nil
        #expect(characteristic.value == nil)
        peripheral.readValue(for: characteristic)
        try await emulator.runUntilIdle()
        #expect(characteristic.value == Data([1, 2]))
        let descriptor = try #require(characteristic.descriptors?.first)
        descriptor.value = "set"
        #expect(descriptor.value as? String == "set")
        peripheral.readValue(for: descriptor)
        try await emulator.runUntilIdle()
        #expect(descriptor.value as? String != "set")
    }

    @Test func `A notification state that a test sets counts until the peripheral's next`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let characteristic = try #require(peripheral.characteristic)
        characteristic.isNotifying = true
        #expect(characteristic.isNotifying)
        peripheral.setNotifyValue(true, for: characteristic)
        try await emulator.runUntilIdle()
        peripheral.setNotifyValue(false, for: characteristic)
        try await emulator.runUntilIdle()
        #expect(!characteristic.isNotifying)
        let published = CBMMutableCharacteristic(
            type: Sensor.value, properties: .notify, value: nil, permissions: .readable)
        published.isNotifying = true
        #expect(published.isNotifying)
    }

    @Test func `The server's objects are found by what a client discovered`() async throws {
        let inner = Sensor.simpleService()
        let services = [
            Sensor.simpleService(),
            CBMServiceMock(
                type: Sensor.service, primary: true, includedServices: [inner],
                characteristics: [CBMCharacteristicMock(type: Sensor.value, properties: .read)]),
        ]
        let spec = sensor.spec(services: services)
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let found = try #require(peripheral.services)
        #expect(found.count == 2)
        for (client, server) in zip(found, services) {
            #expect(services.find(mockOf: client) === server)
            let characteristic = try #require(client.characteristics?.first)
            #expect(services.find(mockOf: characteristic) === server.characteristics?.first)
            for (own, mock) in zip(characteristic.descriptors ?? [], server.characteristics?.first?.descriptors ?? []) {
                #expect(services.find(mockOf: own) === mock)
            }
        }
        peripheral.discoverIncludedServices(nil, for: found[1])
        try await emulator.runUntilIdle()
        let included = try #require(found[1].includedServices?.first)
        #expect(services.find(mockOf: included) === inner)
        #expect(services.find(mockOf: CBMServiceMock(type: Sensor.service, primary: true) as CBMService) == nil)
    }
}
