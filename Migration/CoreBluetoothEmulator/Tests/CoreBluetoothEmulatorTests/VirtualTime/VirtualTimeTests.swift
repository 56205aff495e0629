import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothEmulator

@MainActor
@Suite(.emulator(.instant)) struct VirtualTimeTests {
    @Test func `each step takes the time of the configuration, to the nanosecond`() async throws {
        var configuration = CoreBluetoothEmulator.EmulatorConfiguration.default
        configuration.characteristicDiscoveryDelay = 0.25
        configuration.descriptorDiscoveryDelay = 0.35
        let world = VirtualWorld(configuration)
        let start = world.emulator.now
        let manager = EmulatedCBPeripheralManager(delegate: world.server, queue: nil)
        await world.emulator.expect(.didUpdateState)
        #expect(world.emulator.now - start == .milliseconds(100))
        withExtendedLifetime(manager) {}
        try await world.advertise()
        let peripheral = try await world.connect()
        #expect(
            await world.time(until: .didDiscoverServices) { peripheral.discoverServices(nil) } == .milliseconds(150))
        let service = try #require(peripheral.services?.first)
        #expect(
            await world.time(until: .didDiscoverCharacteristics) {
                peripheral.discoverCharacteristics(nil, for: service)
            } == .milliseconds(250))
        let characteristic = try #require(service.characteristics?.first)
        #expect(
            await world.time(until: .didDiscoverDescriptors) { peripheral.discoverDescriptors(for: characteristic) }
                == .milliseconds(350))
        #expect(
            await world.time(until: .didUpdateValue) { peripheral.readValue(for: characteristic) }
                == .milliseconds(50))
        #expect(
            await world.time(until: .didWriteValue) {
                peripheral.writeValue(Data(), for: characteristic, type: .withResponse)
            } == .milliseconds(50))
        #expect(
            await world.time(until: .didUpdateNotificationState) {
                peripheral.setNotifyValue(true, for: characteristic)
            } == .zero)
        #expect(
            await world.time(until: .didUpdateValue) {
                world.manager?.updateValue(Data([2]), for: world.served, onSubscribedCentrals: nil)
            } == .milliseconds(50))
        #expect(
            await world.time(until: .didDisconnectPeripheral) {
                world.phone?.cancelPeripheralConnection(peripheral)
            } == .milliseconds(100))
    }

    @Test func `a scan with duplicates reports with each packet`() async throws {
        let world = VirtualWorld(.default)
        try await world.advertise()
        let phone = EmulatedCBCentralManager(delegate: world.app, queue: nil)
        try await world.emulator.runUntilIdle()
        phone.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        try await world.emulator.advance(by: .seconds(60))
        // Packets come every 500 to 510 ms.
        #expect((117...121).contains(world.app.discovered.count))
        #expect(Set(world.app.discovered.map(\.rssi)).count > 3)
        phone.scanForPeripherals(withServices: nil)
        try await world.emulator.advance(by: .seconds(60))
        #expect((118...122).contains(world.app.discovered.count))
    }

    @Test func `a queue has room again after the processing delay`() async throws {
        var configuration = CoreBluetoothEmulator.EmulatorConfiguration.instant
        configuration.simulateBackpressure = true
        configuration.maxWriteWithoutResponseQueue = 2
        configuration.maxNotificationQueue = 1
        configuration.backpressureProcessingDelay = 5
        let world = VirtualWorld(configuration)
        let manager = try await world.advertise()
        let peripheral = try await world.connect()
        peripheral.setNotifyValue(true, for: world.served)
        try await world.emulator.runUntilIdle()
        peripheral.writeValue(Data([1]), for: world.served, type: .withoutResponse)
        peripheral.writeValue(Data([2]), for: world.served, type: .withoutResponse)
        #expect(manager.updateValue(Data([3]), for: world.served, onSubscribedCentrals: nil))
        #expect(!manager.updateValue(Data([4]), for: world.served, onSubscribedCentrals: nil))
        try await world.emulator.advance(by: .milliseconds(4_999))
        #expect(!peripheral.canSendWriteWithoutResponse)
        #expect(world.server.count("updateReady") == 0)
        try await world.emulator.advance(by: .milliseconds(2))
        #expect(peripheral.canSendWriteWithoutResponse)
        #expect(world.app.count("writeReady") == 1)
        #expect(world.server.count("updateReady") == 1)
        #expect(world.app.updates == [Data([3])])
    }

    @Test func `a link out of range is lost`() async throws {
        let world = VirtualWorld()
        let manager = try await world.advertise()
        let peripheral = try await world.connect()
        manager.place.host.peripheral?.setProximity(.outOfRange)
        let time = await world.time(until: .didDisconnectPeripheral) {}
        #expect(time == .seconds(4))
        #expect((world.app.errors["disconnect"] as? CBError)?.code == .connectionTimeout)
        #expect(peripheral.state == .disconnected)
    }

    @Test func `the emulator's controls of a host are those of its manager`() async throws {
        let world = VirtualWorld()
        try await world.advertise()
        let peripheral = try await world.connect()
        world.phone?.place.host.setPower(false)
        try await world.emulator.runUntilIdle()
        #expect(world.phone?.state == .poweredOff)
        #expect(peripheral.state == .disconnected)
        #expect(world.app.count("centralState") == 2)
        #expect(world.manager?.state == .poweredOn)
    }

    @Test(.emulator(.instant, world: .builtIn)) func `other devices of the world are peripherals too`() async throws {
        let world = VirtualWorld()
        let phone = EmulatedCBCentralManager(delegate: world.app, queue: nil)
        try await world.emulator.runUntilIdle()
        phone.scanForPeripherals(withServices: [CBUUID(string: "180D")])
        await world.emulator.expect(.didDiscover)
        let peripheral = try #require(world.app.discovered.first?.peripheral)
        #expect(peripheral.peripheralManagerIdentifier == peripheral.identifier)
        peripheral.delegate = world.app
        phone.connect(peripheral)
        await world.emulator.expect(.didConnect)
        peripheral.discoverServices(nil)
        await world.emulator.expect(.didDiscoverServices)
        #expect(peripheral.services?.contains { $0.uuid == CBUUID(string: "180D") } == true)
        #expect(peripheral.name != nil)
    }

    @Test func `the bus waits in virtual time`() async throws {
        let world = VirtualWorld(.slow)
        let manager = try await world.advertise()
        let phone = EmulatedCBCentralManager(delegate: world.app, queue: nil)
        try await world.emulator.runUntilIdle()
        let (a, b) = (phone.identifier, manager.identifier)
        let value = try await world.emulator.run {
            try await EmulatorBus.shared.connect(centralIdentifier: a, peripheralIdentifier: b)
            return try await EmulatorBus.shared.readValue(
                peripheralIdentifier: b, for: world.served, centralIdentifier: a)
        }
        #expect(value == Data([1]))
        #expect(phone.knownPeripheral(b)?.mtu == 23)
    }
}
