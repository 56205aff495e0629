import BluetoothEmulator
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothMock

@Suite(.emulator(.default)) struct ServiceChangeTests {
    private let emulator = Emulator.current
    private let sensor = Sensor()

    @Test func `A change of the services invalidates those that are gone, and reports the new name`() async throws {
        let kept = Sensor.simpleService()
        let gone = CBMServiceMock(type: CBMUUID(string: "180F"), primary: true)
        let spec = sensor.spec(services: [gone, CBMServiceMock(type: CBMUUID(string: "1805"), primary: true), kept])
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let service = try #require(peripheral.services?.last)
        let new = CBMServiceMock(type: CBMUUID(string: "180A"), primary: true)
        spec.simulateServiceChange(newName: "Other", newServices: [kept, new])
        #expect(spec.name == "Other" && spec.services?.count == 2)
        try await emulator.runUntilIdle()
        #expect(client.take() == ["modified 1805, 180F", "name Other"])
        #expect(peripheral.services?.map(\.uuid) == [Sensor.service] && peripheral.services?.first === service)
        peripheral.discoverServices(nil)
        try await emulator.runUntilIdle()
        #expect(peripheral.services?.map(\.identifier) == [kept.identifier, new.identifier])
        spec.simulateValueUpdate(Data([1]), for: kept.mocks[0])
        #expect(kept.characteristics?.first?.value == Data([1]))
    }

    @Test func `A connect of a connected peripheral keeps what was discovered`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let service = try #require(peripheral.services?.first)
        client.manager.connect(peripheral)
        try await emulator.runUntilIdle()
        #expect(client.take() == ["connected"] && peripheral.services?.first === service)
    }

    @Test func `A value of a characteristic that is not the peripheral's is ignored`() async throws {
        let spec = sensor.spec()
        let stranger = CBMCharacteristicMock(type: Sensor.value, properties: .notify)
        spec.simulateValueUpdate(Data([1]), for: stranger)
        #expect(stranger.value == nil)
    }
}
