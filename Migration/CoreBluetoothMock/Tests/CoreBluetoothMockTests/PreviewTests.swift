import BluetoothEmulator
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothMock

@Suite(.emulator()) struct PreviewTests {
    private let emulator = Emulator.current
    private let spec = Sensor().spec("Preview", mtu: 50)

    @Test func `A preview has all services, and answers each request at once`() throws {
        let preview = CBMPeripheralPreview(spec, state: .connected)
        #expect(preview.identifier == spec.identifier && preview.name == "Preview" && preview.state == .connected)
        #expect(preview.canSendWriteWithoutResponse && !preview.ancsAuthorized)
        #expect(preview.maximumWriteValueLength(for: .withResponse) == 47)
        let client = Client { _ in CBMCentralManager(true) }
        preview.delegate = client
        let service = try #require(preview.services?.first)
        let characteristic = try #require(service.characteristics?.first)
        let descriptor = try #require(characteristic.descriptors?.first)
        preview.readRSSI()
        preview.discoverServices(nil)
        preview.discoverIncludedServices(nil, for: service)
        preview.discoverCharacteristics(nil, for: service)
        preview.discoverDescriptors(for: characteristic)
        preview.readValue(for: characteristic)
        preview.readValue(for: descriptor)
        preview.writeValue(Data([1]), for: characteristic, type: .withResponse)
        preview.writeValue(Data([1]), for: characteristic, type: .withoutResponse)
        preview.writeValue(Data([1]), for: descriptor)
        preview.setNotifyValue(true, for: characteristic)
        preview.openL2CAPChannel(128)
        #expect(
            client.take() == [
                "rssi", "services", "included", "characteristics", "descriptors", "value ", "descriptor -",
                "written", "descriptor written", "notifying true",
                "no channel: CB \(CBMError.operationNotSupported.rawValue)",
            ])
        #expect(client.rssis == [-40])
        preview.services = []
        #expect(preview.services?.isEmpty == true)
    }

    @Test func `Mock managers retrieve previews in any state, and connect them at once`() throws {
        let preview = CBMPeripheralPreview(spec)
        let client = Client()
        #expect(client.manager.retrievePeripherals(withIdentifiers: [spec.identifier]).first === preview)
        #expect(client.manager.retrieveConnectedPeripherals(withServices: [Sensor.service]).isEmpty)
        client.manager.connect(preview)
        #expect(client.take() == ["connected"] && preview.state == .connected)
        #expect(client.manager.retrieveConnectedPeripherals(withServices: [Sensor.service]).first === preview)
        client.manager.cancelPeripheralConnection(preview)
        client.manager.cancelPeripheralConnection(preview)
        #expect(client.take() == ["disconnected"] && preview.state == .disconnected)
        CBMCentralManagerMock.tearDownSimulation()
        #expect(CBMCentralManagerMock().retrievePeripherals(withIdentifiers: [spec.identifier]).isEmpty)
    }
}

@Suite(.emulator(.default)) struct SampleTests {
    private final class Listener: BlinkyDelegate {
        let lines = Protected<[String]>([])
        func blinky(_ blinky: Blinky, didChangeLedState isOn: Bool) { lines.withLock { $0.append("led \(isOn)") } }
        func blinky(_ blinky: Blinky, didChangeButtonSubscriptionState isSubscribed: Bool) {
            lines.withLock { $0.append("subscribed \(isSubscribed)") }
        }
    }

    private let emulator = Emulator.current

    @Test func `A blinky's LED is switched, and its button is notified`() async throws {
        let listener = Listener()
        let blinky = Blinky(name: "Board", proximity: .near, delegate: listener)
        let client = try await Client.on(blinky.spec)
        let peripheral = try await client.explore(blinky.spec)
        let characteristics = try #require(peripheral.services?.first?.characteristics)
        #expect(peripheral.services?.first?.uuid == Blinky.serviceUUID && peripheral.name == "Board")
        peripheral.setNotifyValue(true, for: characteristics[0])
        peripheral.writeValue(Data([1]), for: characteristics[1], type: .withResponse)
        peripheral.readValue(for: characteristics[1])
        peripheral.writeValue(Data([2]), for: characteristics[1], type: .withResponse)
        try await emulator.runUntilIdle()
        blinky.simulateButtonToggle()
        blinky.simulateButtonToggle()
        try await emulator.runUntilIdle()
        #expect(
            client.take() == ["notifying true", "written", "value 1", "written: ATT 13", "value 1", "value 0"])
        #expect(Set(listener.lines.withLock { $0 }) == ["subscribed true", "led true"])
        blinky.simulateReset()
        try await emulator.advance(by: .seconds(5))
        #expect(client.take() == ["disconnected: CB 6"])
        #expect(!blinky.isLedOn)
    }

    @Test func `A periodic delegate presses the button while an app subscribes`() async throws {
        let periodic = PeriodicBlinkyDelegate(releasedDuration: 1, pressedDuration: 0.25)
        let blinky = Blinky(delegate: periodic)
        let client = try await Client.on(blinky.spec)
        let peripheral = try await client.explore(blinky.spec)
        let button = try #require(peripheral.services?.first?.characteristics?.first)
        peripheral.setNotifyValue(true, for: button)
        try await emulator.advance(by: .milliseconds(2_700))
        #expect(client.take() == ["notifying true", "value 1", "value 0", "value 1", "value 0"])
        peripheral.setNotifyValue(false, for: button)
        try await emulator.advance(by: .seconds(3))
        #expect(client.take() == ["notifying false"])
        withExtendedLifetime(periodic) {}
    }

    @Test func `A UART returns what is written while an app subscribes, and refuses it otherwise`() async throws {
        let uart = UART(name: "Line")
        let client = try await Client.on(uart.spec)
        try await emulator.advance(by: .seconds(8))
        client.manager.scanForPeripherals(withServices: nil)
        try await emulator.advance(by: .seconds(3))
        let found = try #require(client.peripheral(uart.spec))
        client.manager.stopScan()
        found.delegate = client
        client.manager.connect(found)
        try await emulator.advance(by: .seconds(5))
        let peripheral = try await client.explore(found)
        let characteristics = try #require(peripheral.services?.first?.characteristics)
        peripheral.writeValue(Data([1]), for: characteristics[0], type: .withResponse)
        peripheral.setNotifyValue(true, for: characteristics[1])
        peripheral.writeValue(Data([2]), for: characteristics[0], type: .withResponse)
        peripheral.writeValue(Data([3]), for: characteristics[0], type: .withoutResponse)
        try await emulator.runUntilIdle()
        let lines = client.take().filter { $0 != "ready" }
        #expect(lines.prefix(2) == ["written: ATT 6", "notifying true"])
        #expect(Set(lines.dropFirst(2)) == ["written", "value 2", "value 3"])
        #expect(peripheral.name == "Line" && client.rssis.first == -100)
        let uuids = client.reports.first?[CBMAdvertisementDataServiceUUIDsKey] as? [CBMUUID]
        #expect(uuids?.map(\.uuidString) == ["6E400001-B5A3-F393-E0A9-E50E24DCCA9E"])
    }
}

@Suite(.emulator()) struct ProxyTests {
    @Test func `The proxy of a manager calls a closure for each method`() {
        let (proxy, manager) = (CBMCentralManagerDelegateProxy(), CBMCentralManager(true))
        let peripheral = CBMPeripheralPreview(Sensor().spec())
        var calls: [String] = []
        proxy.didUpdateState = { _ in calls.append("state") }
        proxy.willRestoreState = { _, state in calls.append("restore \(state.count)") }
        proxy.didDiscoverPeripheral = { _, _, _, rssi in calls.append("found \(rssi)") }
        proxy.didConnect = { _, _ in calls.append("connected") }
        proxy.didFailToConnect = { _, _, error in calls.append("failed \(error == nil)") }
        proxy.didDisconnect = { _, _, time, isReconnecting, _ in calls.append("gone \(time) \(isReconnecting)") }
        proxy.connectionEventDidOccur = { _, event, _ in calls.append("event \(event.rawValue)") }
        proxy.didUpdateANCSAuthorization = { _, _ in calls.append("ancs") }
        let delegate: any CBMCentralManagerDelegate = proxy
        delegate.centralManagerDidUpdateState(manager)
        delegate.centralManager(manager, willRestoreState: ["a": 1])
        delegate.centralManager(manager, didDiscover: peripheral, advertisementData: [:], rssi: -5)
        delegate.centralManager(manager, didConnect: peripheral)
        delegate.centralManager(manager, didFailToConnect: peripheral, error: nil)
        delegate.centralManager(
            manager, didDisconnectPeripheral: peripheral, timestamp: 2, isReconnecting: true, error: nil)
        delegate.centralManager(manager, connectionEventDidOccur: .peerConnected, for: peripheral)
        delegate.centralManager(manager, didUpdateANCSAuthorizationFor: peripheral)
        #expect(
            calls == [
                "state", "restore 1", "found -5", "connected", "failed true", "gone 2.0 true", "event 1", "ancs",
            ])
    }

    @Test func `The proxy of a peripheral calls a closure for each method`() throws {
        let proxy = CBMPeripheralDelegateProxyWithL2CAPChannel()
        let preview = CBMPeripheralPreview(Sensor().spec())
        preview.delegate = proxy
        var calls: [String] = []
        proxy.didUpdateName = { _ in calls.append("name") }
        proxy.didModifyServices = { _, services in calls.append("modified \(services.count)") }
        proxy.didReadRSSI = { _, rssi, _ in calls.append("rssi \(rssi)") }
        proxy.didDiscoverServices = { _, _ in calls.append("services") }
        proxy.didDiscoverIncludedServices = { _, _, _ in calls.append("included") }
        proxy.didDiscoverCharacteristics = { _, _, _ in calls.append("characteristics") }
        proxy.didUpdateCharacteristicValue = { _, _, _ in calls.append("value") }
        proxy.didWriteCharacteristicValue = { _, _, _ in calls.append("written") }
        proxy.didUpdateNotificationState = { _, _, _ in calls.append("notifying") }
        proxy.didDiscoverDescriptors = { _, _, _ in calls.append("descriptors") }
        proxy.didUpdateDescriptorValue = { _, _, _ in calls.append("descriptor value") }
        proxy.didWriteDescriptorValue = { _, _, _ in calls.append("descriptor written") }
        proxy.isReadyToSendWriteWithoutResponse = { _ in calls.append("ready") }
        proxy.didOpenChannel = { _, channel, _ in calls.append("channel \(channel == nil)") }
        let service = try #require(preview.services?.first as? CBMServiceMock)
        let (characteristic, descriptor) = (service.mocks[0], service.mocks[0].mocks[0])
        proxy.peripheralDidUpdateName(preview)
        proxy.peripheral(preview, didModifyServices: [service])
        preview.readRSSI()
        preview.discoverServices(nil)
        preview.discoverIncludedServices(nil, for: service)
        preview.discoverCharacteristics(nil, for: service)
        preview.readValue(for: characteristic)
        preview.writeValue(Data(), for: characteristic, type: .withResponse)
        preview.setNotifyValue(false, for: characteristic)
        preview.discoverDescriptors(for: characteristic)
        preview.readValue(for: descriptor)
        preview.writeValue(Data(), for: descriptor)
        proxy.peripheralIsReady(toSendWriteWithoutResponse: preview)
        preview.openL2CAPChannel(128)
        #expect(
            calls == [
                "name", "modified 1", "rssi -40", "services", "included", "characteristics", "value", "written",
                "notifying", "descriptors", "descriptor value", "descriptor written", "ready", "channel true",
            ])
    }

    @Test func `The older method of a disconnection is called where there is no newer one`() async throws {
        final class Old: CBMCentralManagerDelegate {
            let errors = Protected<[Int?]>([])
            func centralManagerDidUpdateState(_ central: CBMCentralManager) {}
            func centralManager(
                _ central: CBMCentralManager, didDisconnectPeripheral peripheral: any CBMPeripheral,
                error: (any Error)?
            ) {
                errors.withLock { $0.append((error as? CBMError)?.code.rawValue) }
            }
        }
        let spec = Sensor().spec()
        let client = try await Client.on(spec)
        _ = try await client.connect(to: spec)
        let old = Old()
        client.manager.delegate = old
        spec.simulateDisconnection()
        try await Emulator.current.advance(by: .seconds(1))
        #expect(old.errors.withLock { $0 } == [CBMError.peripheralDisconnected.rawValue])
    }
}
