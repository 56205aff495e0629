import CoreBluetooth
import XCTest

@testable import CoreBluetoothEmulator

final class BusTests: RealTimeTestCase {
    private let bus = EmulatorBus.shared

    func testTheBusCommandsManagersByIdentifier() async throws {
        let served = makeCharacteristic()
        let descriptor = EmulatedCBMutableDescriptor(type: CBUUID(string: "ABCD"), value: Data([5]))
        served.descriptors = [descriptor]
        let manager = try await advertise(served)
        let phone = EmulatedCBCentralManager(delegate: central, queue: nil)
        try await step()
        let (a, b) = (phone.identifier, manager.identifier)
        try await bus.connect(centralIdentifier: a, peripheralIdentifier: b)
        var isConnected = await bus.isConnected(centralIdentifier: a, peripheralIdentifier: b)
        XCTAssertTrue(isConnected)
        let connected = await bus.getConnectedPeripherals(for: a)
        XCTAssertEqual(connected, [b])
        let proxy = await bus.getPeripheralProxy(peripheralIdentifier: b, centralIdentifier: a)
        XCTAssertEqual([proxy?.peripheralManagerIdentifier, proxy?.centralManagerIdentifier], [b, a])

        let services = try await bus.discoverServices(peripheralIdentifier: b, serviceUUIDs: [Self.service])
        let characteristics = try await bus.discoverCharacteristics(
            peripheralIdentifier: b, characteristicUUIDs: nil, for: services[0])
        XCTAssertTrue(characteristics.first === served)
        let descriptors = try await bus.discoverDescriptors(peripheralIdentifier: b, for: served)
        XCTAssertTrue(descriptors.first === descriptor)

        try await bus.writeValue(
            peripheralIdentifier: b, data: Data([2]), for: served, type: .withResponse, centralIdentifier: a)
        let value = try await bus.readValue(peripheralIdentifier: b, for: served, centralIdentifier: a)
        XCTAssertEqual(value, Data([2]))
        try await bus.writeValue(peripheralIdentifier: b, data: Data([6]), for: descriptor, centralIdentifier: a)
        let described = try await bus.readValue(peripheralIdentifier: b, for: descriptor, centralIdentifier: a)
        XCTAssertEqual(described as? Data, Data([6]))
        try await bus.setNotifyValue(peripheralIdentifier: b, enabled: true, for: served, centralIdentifier: a)
        let isSent = await bus.sendNotification(from: b, value: Data([3]), for: served, to: [a])
        XCTAssertTrue(isSent)
        let rssi = await bus.readRSSI(peripheralIdentifier: b)
        XCTAssertTrue((-60 ... -50).contains(rssi))
        await bus.disconnect(centralIdentifier: a, peripheralIdentifier: b)
        isConnected = await bus.isConnected(centralIdentifier: a, peripheralIdentifier: b)
        XCTAssertFalse(isConnected)
        try await step()
        XCTAssertEqual(central.log, ["centralState", "connect", "disconnect"])
    }

    func testTheBusOpensChannels() async throws {
        await configure { $0.l2capSupported = true }
        let manager = try await advertise(makeCharacteristic())
        let (phone, _) = try await connect()
        let (a, b) = (phone.identifier, manager.identifier)
        let psm = try await bus.publishL2CAPChannel(peripheralIdentifier: b, encryptionRequired: false)
        let channel = try await bus.openL2CAPChannel(centralIdentifier: a, peripheralIdentifier: b, psm: psm)
        XCTAssertTrue(channel.isOpen)
        try await step()
        await bus.closeL2CAPChannel(channelIdentifier: try XCTUnwrap(server.serverChannel).identifier)
        await bus.unpublishL2CAPChannel(peripheralIdentifier: b, psm: psm)
        try await step()
        do {
            _ = try await bus.openL2CAPChannel(centralIdentifier: a, peripheralIdentifier: b, psm: psm)
            XCTFail("a channel that is not published opened")
        } catch {
            XCTAssertTrue(error is CBError)
        }
    }

    func testTheBusScansAndAdvertises() async throws {
        let manager = EmulatedCBPeripheralManager(delegate: server, queue: nil)
        let phone = EmulatedCBCentralManager(delegate: central, queue: nil)
        try await step()
        await bus.startScanning(centralIdentifier: phone.identifier, services: nil, options: nil)
        await bus.startAdvertising(
            peripheralIdentifier: manager.identifier, data: [CBAdvertisementDataLocalNameKey: "bus"])
        try await step()
        XCTAssertEqual(central.discovered.map(\.peripheral.name), ["bus"])
        await bus.stopAdvertising(peripheralIdentifier: manager.identifier)
        await bus.stopScanning(centralIdentifier: phone.identifier)
        XCTAssertFalse(phone.isScanning)
        XCTAssertFalse(manager.isAdvertising)
    }

    func testTheBusKnowsItsManagers() async throws {
        let manager = try await advertise(makeCharacteristic())
        let (phone, peripheral) = try await connect()
        var centrals = await bus.getAllCentrals()
        let peripherals = await bus.getAllPeripherals()
        XCTAssertEqual(centrals, [phone.identifier])
        XCTAssertEqual(peripherals, [manager.identifier])
        let alias = UUID()
        await bus.register(central: phone, identifier: alias)
        centrals = await bus.getAllCentrals()
        XCTAssertEqual(centrals, [alias])
        await bus.unregister(centralIdentifier: alias)
        try await step()
        XCTAssertEqual(peripheral.state, .disconnected)
        await bus.register(peripheral: manager, identifier: manager.identifier)
        await bus.unregister(peripheralIdentifier: manager.identifier)
        XCTAssertFalse(manager.isAdvertising)
        do {
            try await bus.connect(centralIdentifier: alias, peripheralIdentifier: manager.identifier)
            XCTFail("an unknown manager connected")
        } catch {
            XCTAssertEqual((error as? CBError)?.code, .unknownDevice)
        }
    }

    func testAnOperationWithoutALinkFails() async throws {
        let manager = try await advertise(makeCharacteristic())
        let phone = EmulatedCBCentralManager(delegate: central, queue: nil)
        let served = try XCTUnwrap(manager.publishedServices.first?.mutableCharacteristics.first)
        do {
            _ = try await bus.readValue(
                peripheralIdentifier: manager.identifier, for: served, centralIdentifier: phone.identifier)
            XCTFail("a read without a link succeeded")
        } catch {
            XCTAssertEqual((error as? CBError)?.code, .notConnected)
        }
    }

    func testResetEndsManagersAndForgetsAll() async throws {
        let manager = try await advertise(makeCharacteristic())
        let (phone, peripheral) = try await connect()
        let emulator = bus.emulator
        try await bus.saveStateForRestoration(identifier: "x", state: [1])
        await bus.reset()
        XCTAssertEqual([phone.state, manager.state], [.unknown, .unknown])
        XCTAssertEqual(peripheral.state, .disconnected)
        XCTAssertFalse(bus.emulator === emulator)
        let centrals = await bus.getAllCentrals()
        XCTAssertEqual(centrals, [])
        let preserved = try await bus.restoreState(identifier: "x", as: [Int].self)
        XCTAssertNil(preserved)
        let configuration = await bus.getConfiguration()
        XCTAssertEqual(configuration.stateUpdateDelay, 0.1)
        phone.scanForPeripherals(withServices: nil)
        manager.startAdvertising(nil)
        try await step()
        XCTAssertEqual(central.count("disconnect"), 0)
    }

    func testInternalsThatTestsSetCount() async throws {
        let served = makeCharacteristic()
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        peripheral.setState(.connecting)
        XCTAssertEqual(peripheral.state, .connecting)
        peripheral.canSendWriteWithoutResponse = false
        XCTAssertFalse(peripheral.canSendWriteWithoutResponse)
        peripheral.name = "other"
        XCTAssertEqual(peripheral.name, "other")
        phone.cancelPeripheralConnection(peripheral)
        try await step()
        XCTAssertEqual(peripheral.state, .disconnected)
        served.setValue(Data([4]))
        XCTAssertEqual(served.value, Data([4]))
        served.value = nil
        XCTAssertNil(served.value)
        let plain = EmulatedCBCharacteristic(uuid: Self.characteristic, properties: .notify, value: nil)
        plain.setNotifying(true)
        XCTAssertTrue(plain.isNotifying)
        withExtendedLifetime(manager) {}
    }

    func testWhatThereIsIsEmulated() async throws {
        XCTAssertTrue(CoreBluetoothEmulator.Emulator.isEmulated)
        XCTAssertTrue(EmulatedCBCentralManager.supports(.extendedScanAndConnect))
        bus.emulator.host.setSupport(.extendedScanAndConnect, false)
        XCTAssertFalse(EmulatedCBCentralManager.supports(.extendedScanAndConnect))
        var configuration = EmulatorConfiguration.slow
        configuration.readDelay = 3
        CoreBluetoothEmulator.Emulator.configure(configuration)
        let present = await CoreBluetoothEmulator.Emulator.getConfiguration()
        XCTAssertEqual(present.readDelay, 3)
        CoreBluetoothEmulator.Emulator.reset()
        let after = await bus.getConfiguration()
        XCTAssertEqual(after.readDelay, 0.05)
    }
}
