import CoreBluetooth
import XCTest

@testable import CoreBluetoothEmulator

final class LinkTests: RealTimeTestCase {
    // MARK: MTU

    func testALinkStartsWithTheDefaultMTU() async throws {
        await configure { $0.defaultMTU = 100 }
        let manager = try await advertise(makeCharacteristic())
        let (phone, peripheral) = try await connect()
        XCTAssertEqual(peripheral.mtu, 100)
        XCTAssertEqual(peripheral.maximumWriteValueLength(for: .withResponse), 97)
        XCTAssertEqual(peripheral.maximumWriteValueLength(for: .withoutResponse), 97)
        let mtu = await EmulatorBus.shared.getMTU(
            centralIdentifier: phone.identifier, peripheralIdentifier: manager.identifier)
        XCTAssertEqual(mtu, 100)
    }

    func testANegotiatedMTUIsThatOfTheLinkToo() async throws {
        let served = makeCharacteristic()
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        peripheral.setNotifyValue(true, for: served)
        let bus = EmulatorBus.shared
        let agreed = await bus.negotiateMTU(
            centralIdentifier: phone.identifier, peripheralIdentifier: peripheral.identifier, requestedMTU: 1_024)
        XCTAssertEqual(agreed, 512)
        let known = await bus.getMTU(
            centralIdentifier: phone.identifier, peripheralIdentifier: peripheral.identifier)
        XCTAssertEqual(known, 512)
        try await step()
        XCTAssertEqual(peripheral.mtu, 512)
        XCTAssertEqual(served.subscribedCentrals?.first?.maximumUpdateValueLength, 509)
        withExtendedLifetime(manager) {}
    }

    func testTheBusAnswersForManagersThatAreNotThere() async throws {
        let bus = EmulatorBus.shared
        let (a, b) = (UUID(), UUID())
        let first = await bus.getMTU(centralIdentifier: a, peripheralIdentifier: b)
        XCTAssertEqual(first, 185)
        let agreed = await bus.negotiateMTU(centralIdentifier: a, peripheralIdentifier: b, requestedMTU: 50)
        XCTAssertEqual(agreed, 50)
        let second = await bus.getMTU(centralIdentifier: a, peripheralIdentifier: b)
        XCTAssertEqual(second, 50)
        let isConnected = await bus.isConnected(centralIdentifier: a, peripheralIdentifier: b)
        XCTAssertFalse(isConnected)
    }

    // MARK: Backpressure

    func testWritesWithoutResponseFillTheirQueue() async throws {
        await configure {
            ($0.simulateBackpressure, $0.maxWriteWithoutResponseQueue, $0.backpressureProcessingDelay) = (true, 2, 0.1)
        }
        let served = makeCharacteristic()
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        peripheral.readValue(for: served)
        try await step()
        XCTAssertTrue(peripheral.canSendWriteWithoutResponse)
        for byte in 1...3 { peripheral.writeValue(Data([UInt8(byte)]), for: served, type: .withoutResponse) }
        XCTAssertFalse(peripheral.canSendWriteWithoutResponse)
        let canSend = await EmulatorBus.shared.canSendWriteWithoutResponse(
            centralIdentifier: phone.identifier, peripheralIdentifier: peripheral.identifier)
        XCTAssertFalse(canSend)
        try await step(250)
        XCTAssertTrue(peripheral.canSendWriteWithoutResponse)
        // The same object is both delegates.
        XCTAssertEqual(central.count("writeReady"), 1)
        XCTAssertEqual(served.value, Data([3]))
        withExtendedLifetime(manager) {}
    }

    func testNotificationsFillTheirQueue() async throws {
        await configure {
            ($0.simulateBackpressure, $0.maxNotificationQueue, $0.backpressureProcessingDelay) = (true, 2, 0.1)
        }
        let served = makeCharacteristic()
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        peripheral.setNotifyValue(true, for: served)
        try await step()
        let areSent = (1...3).map { manager.updateValue(Data([$0]), for: served, onSubscribedCentrals: nil) }
        XCTAssertEqual(areSent, [true, true, false])
        try await step(250)
        XCTAssertEqual(central.updates, [Data([1]), Data([2])])
        XCTAssertEqual(server.count("updateReady"), 1)
        XCTAssertTrue(manager.updateValue(Data([4]), for: served, onSubscribedCentrals: nil))
        withExtendedLifetime(phone) {}
    }

    func testTheQueuesOfTheBusFillAndDrain() async throws {
        await configure { ($0.simulateBackpressure, $0.maxWriteWithoutResponseQueue) = (true, 1) }
        let bus = EmulatorBus.shared
        let (a, b) = (UUID(), UUID())
        await bus.enqueueWriteWithoutResponse(centralIdentifier: a, peripheralIdentifier: b)
        var canSend = await bus.canSendWriteWithoutResponse(centralIdentifier: a, peripheralIdentifier: b)
        XCTAssertFalse(canSend)
        await bus.dequeueWriteWithoutResponse(centralIdentifier: a, peripheralIdentifier: b)
        canSend = await bus.canSendWriteWithoutResponse(centralIdentifier: a, peripheralIdentifier: b)
        XCTAssertTrue(canSend)
    }

    // MARK: Connection events

    func testRegisteredCentralsHearOfTheirLinks() async throws {
        await configure { $0.fireConnectionEvents = true }
        let manager = try await advertise(makeCharacteristic())
        let phone = EmulatedCBCentralManager(delegate: central, queue: nil)
        try await step()
        phone.registerForConnectionEvents()
        phone.scanForPeripherals(withServices: nil)
        try await step()
        let peripheral = try XCTUnwrap(central.discovered.first?.peripheral)
        phone.connect(peripheral)
        try await step()
        phone.cancelPeripheralConnection(peripheral)
        try await step()
        XCTAssertEqual(central.connectionEvents, [.peerConnected, .peerDisconnected])
        phone.registerForConnectionEvents(options: [.peripheralUUIDs: [UUID()]])
        phone.connect(peripheral)
        try await step()
        XCTAssertEqual(central.connectionEvents.count, 2)
        phone.registerForConnectionEvents(options: [.serviceUUIDs: [Self.service]])
        phone.cancelPeripheralConnection(peripheral)
        try await step()
        XCTAssertEqual(central.connectionEvents.count, 3)
        withExtendedLifetime(manager) {}
    }

    func testNoManagerHearsOfLinksWhileTheEventsAreOff() async throws {
        let manager = try await advertise(makeCharacteristic())
        let phone = EmulatedCBCentralManager(delegate: central, queue: nil)
        phone.registerForConnectionEvents()
        let peripheral = try await connect().1
        XCTAssertEqual(peripheral.state, .disconnected)
        XCTAssertEqual(central.connectionEvents, [])
        withExtendedLifetime(manager) {}
    }

    // MARK: Two centrals

    func testTwoCentralsSubscribeForThemselves() async throws {
        let served = makeCharacteristic()
        let manager = try await advertise(served)
        let (first, one) = try await connect()
        let (second, two) = try await connect()
        XCTAssertFalse(one === two)
        one.setNotifyValue(true, for: served)
        two.setNotifyValue(true, for: served)
        try await step()
        XCTAssertEqual(served.subscribedCentrals?.count, 2)
        one.setNotifyValue(false, for: served)
        try await step()
        XCTAssertEqual(served.subscribedCentrals?.map(\.identifier), [second.identifier])
        XCTAssertTrue(served.isNotifying)
        let other = try XCTUnwrap(server.subscribed.first { $0.identifier == first.identifier })
        XCTAssertTrue(manager.updateValue(Data([5]), for: served, onSubscribedCentrals: [other]))
        XCTAssertTrue(manager.updateValue(Data([6]), for: served, onSubscribedCentrals: server.subscribed))
        try await step()
        XCTAssertEqual(central.updates, [Data([6])])
        first.cancelPeripheralConnection(one)
        second.cancelPeripheralConnection(two)
        try await step()
        XCTAssertEqual(server.count("unsubscribe"), 2)
    }
}
