import CoreBluetooth
import CoreBluetoothEmulator
import CoreBluetoothTesting
import Testing

@MainActor
@Suite(.emulator(.instant)) struct Swift6ClientTests {
    private let bus = EmulatorBus.shared

    private func configure() async {
        var configuration = CoreBluetoothEmulator.EmulatorConfiguration.instant
        configuration.l2capSupported = true
        configuration.fireConnectionEvents = true
        configuration.fireANCSAuthorizationUpdates = true
        await bus.configure(configuration)
    }

    @Test func `an app in Swift 6 mode does what it did`() async throws {
        await configure()
        let (client, server) = (Client(), Server())
        let manager = EmulatedCBPeripheralManager(delegate: server, queue: nil)
        let central = EmulatedCBCentralManager(delegate: client, queue: .main, options: nil)
        await bus.emulator.expect(.didUpdateValue)
        #expect(
            client.log == [
                "state", "discover", "connect", "services", "characteristics", "subscribed true", "value 07",
            ])
        #expect(server.log == ["add", "advertise", "subscribe"])
        #expect(manager.updateValue(Data([3]), for: server.characteristic, onSubscribedCentrals: nil))
        let peripheral = try #require(client.peripheral)
        peripheral.readRSSI()
        peripheral.discoverDescriptors(for: server.characteristic)
        peripheral.discoverIncludedServices(nil, for: try #require(peripheral.services?.first))
        manager.publishL2CAPChannel(withEncryption: false)
        await bus.updateANCSAuthorization(
            for: try #require(server.characteristic.subscribedCentrals?.first).identifier, status: .authorized)
        try await bus.emulator.runUntilIdle()
        peripheral.openL2CAPChannel(server.psm)
        try await bus.emulator.runUntilIdle()
        #expect(Set(client.log.suffix(6)) == ["value 3", "rssi", "descriptors", "included", "ancs", "channel"])
        #expect(server.log.suffix(2) == ["ancs true", "channel true"])
        #expect(client.channel?.outputStream?.hasSpaceAvailable == true)
        #expect(client.channel?.inputStream?.hasBytesAvailable == false)
        central.cancelPeripheralConnection(peripheral)
        try await bus.emulator.runUntilIdle()
        #expect(client.log.last == "disconnect")
    }

    @Test func `delegates need only the state, and need not be objects of Foundation`() async throws {
        await configure()
        let delegate = BareDelegate()
        let manager = EmulatedCBPeripheralManager(delegate: delegate, queue: nil)
        let central = EmulatedCBCentralManager(delegate: delegate, queue: nil)
        try await bus.emulator.runUntilIdle()
        let characteristic = EmulatedCBMutableCharacteristic(
            type: CBUUID(string: "5678"), properties: [.read, .write, .notify], value: Data([9]),
            permissions: [.readable, .writeable])
        let service = EmulatedCBMutableService(type: CBUUID(string: "1234"), primary: true)
        service.characteristics = [characteristic]
        manager.add(service)
        manager.startAdvertising(nil)
        central.scanForPeripherals(withServices: nil)
        try await bus.emulator.advance(by: .seconds(1))
        let identifier = manager.identifier
        let centralIdentifier = try #require(await bus.getAllCentrals().first)
        let value = try await bus.emulator.run {
            try await EmulatorBus.shared.connect(
                centralIdentifier: centralIdentifier, peripheralIdentifier: identifier)
            let proxy = await EmulatorBus.shared.getPeripheralProxy(
                peripheralIdentifier: identifier, centralIdentifier: centralIdentifier)
            proxy?.delegate = delegate
            try await EmulatorBus.shared.writeValue(
                peripheralIdentifier: identifier, data: Data([8]), for: characteristic, type: .withResponse,
                centralIdentifier: centralIdentifier)
            return try await EmulatorBus.shared.readValue(
                peripheralIdentifier: identifier, for: characteristic, centralIdentifier: centralIdentifier)
        }
        #expect(value == Data([8]))
        central.stopScan()
        manager.stopAdvertising()
        manager.remove(service)
        manager.removeAllServices()
        #expect(central.delegate === delegate)
        #expect(manager.delegate === delegate)
        #expect(!central.isScanning && !manager.isAdvertising)
    }
}
