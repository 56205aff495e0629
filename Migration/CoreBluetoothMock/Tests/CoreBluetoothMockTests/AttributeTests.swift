import BluetoothEmulator
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothMock

@Suite(.emulator(.default)) struct AttributeTests {
    private let emulator = Emulator.current
    private let sensor = Sensor()
    private let description = CBMUUID(string: "2901")

    // MARK: Discovery

    @Test func `A discovery asks the delegate with its filter, and finds what matches`() async throws {
        let services = [
            CBMServiceMock(type: CBMUUID(string: "180F"), primary: true), Sensor.simpleService(),
            CBMServiceMock(type: CBMUUID(string: "1800"), primary: true),
        ]
        let spec = sensor.spec(services: services)
        let client = try await Client.on(spec)
        let peripheral = try await client.connect(to: spec)
        _ = sensor.take()
        peripheral.discoverServices([Sensor.service])
        try await emulator.runUntilIdle()
        #expect(peripheral.services?.map(\.uuid) == [Sensor.service])
        peripheral.discoverServices(nil)
        try await emulator.runUntilIdle()
        #expect(peripheral.services?.map(\.uuid) == [Sensor.service, CBMUUID(string: "180F")])
        #expect(sensor.take() == ["services 181A", "services all"])
        let service = try #require(peripheral.services?.first)
        #expect(service.peripheral === peripheral && service.isPrimary && service.characteristics == nil)
        peripheral.discoverCharacteristics([CBMUUID(string: "FFFF")], for: service)
        try await emulator.runUntilIdle()
        #expect(service.characteristics == [])
        peripheral.discoverCharacteristics([Sensor.value], for: service)
        try await emulator.runUntilIdle()
        #expect(sensor.take() == ["characteristics FFFF of 181A", "characteristics 2A6E of 181A"])
        #expect(client.take() == ["services", "services", "characteristics", "characteristics"])
        let characteristic = try #require(service.characteristics?.first)
        #expect(characteristic.service === service && characteristic.optionalService === service)
        #expect(service.characteristics?.first === characteristic)
        #expect(peripheral.services?.first === service)
    }

    @Test func `A refused discovery fails with the error of the delegate`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.connect(to: spec)
        sensor.answers.discovery = .failure(CBMATTError(.insufficientResources))
        peripheral.discoverServices(nil)
        try await emulator.runUntilIdle()
        sensor.answers.discovery = .failure(TestError(number: 1))
        peripheral.discoverServices(nil)
        try await emulator.runUntilIdle()
        #expect(client.take() == ["services: ATT 17", "services: TestError(number: 1)"])
    }

    @Test func `An included service is found in the service that includes it alone`() async throws {
        let inner = Sensor.simpleService()
        let outer = CBMServiceMock(type: CBMUUID(string: "1812FFFF"), primary: true, includedServices: inner)
        let spec = sensor.spec(services: [outer])
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        _ = sensor.take()
        let service = try #require(peripheral.services?.first)
        #expect(peripheral.services?.count == 1)
        peripheral.discoverIncludedServices(nil, for: service)
        try await emulator.runUntilIdle()
        let included = try #require(service.includedServices?.first)
        #expect(included.uuid == Sensor.service && !included.isPrimary && included.identifier == inner.identifier)
        peripheral.discoverCharacteristics(nil, for: included)
        try await emulator.runUntilIdle()
        #expect(included.characteristics?.count == 1)
        #expect(sensor.take() == ["included all of 1812FFFF", "characteristics all of 181A"])
        #expect(client.take() == ["included", "characteristics"])
    }

    @Test func `Attributes of equal UUIDs are distinguished`() async throws {
        func characteristic() -> CBMCharacteristicMock {
            CBMCharacteristicMock(
                type: Sensor.value, properties: [.read, .notify], descriptors: CBMDescriptorMock(type: description),
                CBMDescriptorMock(type: description))
        }
        func service() -> CBMServiceMock {
            CBMServiceMock(
                type: Sensor.service, primary: true, characteristics: characteristic(), characteristic())
        }
        let services = [service(), service()]
        let spec = sensor.spec(services: services)
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let found = try #require(peripheral.services)
        #expect(found.map(\.identifier) == services.map(\.identifier))
        for (found, server) in zip(found, services) {
            #expect(found.characteristics?.map(\.identifier) == server.characteristics?.map(\.identifier))
            for (found, server) in zip(found.characteristics ?? [], server.characteristics ?? []) {
                #expect(found.descriptors?.map(\.identifier) == server.descriptors?.map(\.identifier))
            }
        }
        let last = try #require(found.last?.characteristics?.last)
        peripheral.setNotifyValue(true, for: last)
        try await emulator.runUntilIdle()
        let servers = services[1].mocks
        spec.simulateValueUpdate(Data([1]), for: servers[0])
        spec.simulateValueUpdate(Data([2]), for: servers[1])
        try await emulator.runUntilIdle()
        #expect(client.take() == ["notifying true", "value 2"])
        #expect(last.value == Data([2]))
    }

    @Test func `The configuration descriptor is shown where the spec lists it`() async throws {
        func characteristic(_ descriptors: CBMDescriptorMock...) -> CBMCharacteristicMock {
            let new = CBMCharacteristicMock(type: Sensor.value, properties: .notify)
            new.descriptors = descriptors
            return new
        }
        let service = CBMServiceMock(
            type: Sensor.service, primary: true,
            characteristics: [characteristic(CBMCCCDescriptorMock()), characteristic()])
        let spec = sensor.spec(services: [service])
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let found = try #require(peripheral.services?.first?.characteristics)
        #expect(found.map { $0.descriptors?.map(\.uuid.uuidString) } == [["2902"], []])
        let descriptor = try #require(found[0].descriptors?.first)
        #expect(descriptor.characteristic === found[0] && descriptor.optionalCharacteristic === found[0])
    }

    // MARK: Values

    @Test func `Reads are answered by the delegate, with values and with errors`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let characteristic = try #require(peripheral.characteristic)
        _ = sensor.take()
        let answers: [Result<Data, any Error>] = [
            .success(Data([5])), .failure(CBMATTError(.insufficientAuthorization)), .failure(CBMError(.unknown)),
            .failure(TestError(number: 2)), .success(Data(repeating: 1, count: 600)),
        ]
        for answer in answers {
            sensor.answers.read = answer
            peripheral.readValue(for: characteristic)
            try await emulator.runUntilIdle()
        }
        let lines = client.take()
        #expect(
            lines.prefix(4) == [
                "value 5", "value 5: ATT 8", "value 5: CB 0", "value 5: TestError(number: 2)",
            ])
        #expect(characteristic.value?.count == 512)
        #expect(sensor.take().first == "read 2A6E of 181A")
    }

    @Test func `Writes reach the delegate whole, and commands that do not fit are dropped`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let characteristic = try #require(peripheral.characteristic)
        _ = sensor.take()
        peripheral.writeValue(Data(repeating: 1, count: 100), for: characteristic, type: .withResponse)
        peripheral.writeValue(Data([1]), for: characteristic, type: .withoutResponse)
        peripheral.writeValue(Data(repeating: 1, count: 21), for: characteristic, type: .withoutResponse)
        try await emulator.runUntilIdle()
        sensor.answers.write = .failure(TestError(number: 4))
        peripheral.writeValue(Data([1]), for: characteristic, type: .withResponse)
        try await emulator.runUntilIdle()
        #expect(sensor.take() == ["write 100 bytes", "command 1 bytes", "write 1 bytes"])
        #expect(client.take().filter { $0 != "ready" } == ["written", "written: TestError(number: 4)"])
    }

    @Test func `Descriptors are read and written, and have the type of their UUID`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let descriptor = try #require(peripheral.characteristic?.descriptors?.first)
        _ = sensor.take()
        sensor.answers.read = .success(Data("Heat".utf8))
        peripheral.readValue(for: descriptor)
        peripheral.writeValue(Data([1, 2]), for: descriptor)
        try await emulator.runUntilIdle()
        #expect(descriptor.value as? String == "Heat")
        #expect(client.take() == ["descriptor Heat", "descriptor written"])
        #expect(sensor.take() == ["read 2901 of 2A6E", "write descriptor 2 bytes"])
    }

    // MARK: Notifications

    @Test func `A subscriber gets values one interval after the update, cut to the packet`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let characteristic = try #require(peripheral.characteristic)
        _ = sensor.take()
        spec.simulateValueUpdate(Data([1]), for: spec.characteristic)
        try await emulator.runUntilIdle()
        #expect(client.take() == [])
        peripheral.setNotifyValue(true, for: characteristic)
        try await emulator.runUntilIdle()
        #expect(sensor.take() == ["notify true", "notified true"])
        #expect(spec.characteristic.isNotifying && characteristic.isNotifying)
        spec.simulateValueUpdate(Data([7]), for: spec.characteristic)
        #expect(spec.characteristic.value == Data([7]))
        try await emulator.advance(by: .milliseconds(21))
        #expect(client.take() == ["notifying true", "value 7"])
        spec.simulateValueUpdate(Data(repeating: 1, count: 30), for: spec.characteristic)
        try await emulator.runUntilIdle()
        #expect(characteristic.value?.count == 20)
        peripheral.setNotifyValue(false, for: characteristic)
        try await emulator.runUntilIdle()
        #expect(!spec.characteristic.isNotifying && !characteristic.isNotifying)
        #expect(sensor.take() == ["notify false", "notified false"])
    }

    @Test func `A refused subscription fails with the error of the delegate`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        _ = sensor.take()
        sensor.answers.notify = .failure(TestError(number: 9))
        peripheral.setNotifyValue(true, for: try #require(peripheral.characteristic))
        try await emulator.runUntilIdle()
        #expect(client.take() == ["notifying false: TestError(number: 9)"])
        #expect(sensor.take() == ["notify true", "notified false with an error"])
    }

    @Test func `Each manager has a subscription of its own`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let first = try await client.explore(spec)
        let other = Client()
        let second = try await other.explore(try await other.retrieve(spec))
        first.setNotifyValue(true, for: try #require(first.characteristic))
        try await emulator.runUntilIdle()
        _ = client.take()
        spec.simulateValueUpdate(Data([3]), for: spec.characteristic)
        try await emulator.runUntilIdle()
        #expect(client.take() == ["value 3"])
        #expect(other.take() == [])
        #expect(second.characteristic?.isNotifying == false)
    }

    @Test func `A hook may act on its peripheral`() async throws {
        let spec = sensor.spec()
        let client = try await Client.on(spec)
        let peripheral = try await client.explore(spec)
        let characteristic = try #require(peripheral.characteristic)
        peripheral.setNotifyValue(true, for: characteristic)
        try await emulator.runUntilIdle()
        _ = client.take()
        _ = sensor.take()
        sensor.answers.onWrite = { spec, data in
            spec.simulateValueUpdate(data, for: spec.characteristic)
            if data == Data([0]) { spec.simulateDisconnection() }
        }
        sensor.answers.onDisconnect = { #expect(!$0.isConnected) }
        peripheral.writeValue(Data([4]), for: characteristic, type: .withResponse)
        try await emulator.runUntilIdle()
        #expect(client.take().sorted() == ["value 4", "written"])
        peripheral.writeValue(Data([0]), for: characteristic, type: .withResponse)
        try await emulator.runUntilIdle()
        #expect(client.take().last == "disconnected: CB 7")
        #expect(sensor.take() == ["write 1 bytes", "write 1 bytes", "disconnect CB 7"])
        #expect(!spec.characteristic.isNotifying)
    }
}
