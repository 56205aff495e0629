import CoreBluetooth
import XCTest

@testable import CoreBluetoothEmulator

/// MTUs, with managers that were created under the default settings, in the form of the original's tests.
final class OriginalMTUTests: OriginalShapeTestCase {
    override var firstConfiguration: EmulatorConfiguration? { nil }

    private func connected(
        _ change: (inout EmulatorConfiguration) -> Void = { _ in }
    ) async throws -> EmulatedCBPeripheral {
        await configure(change)
        publish()
        return try await connect()
    }

    private func negotiate(_ mtu: Int, _ peripheral: EmulatedCBPeripheral) async -> Int {
        await bus.negotiateMTU(
            centralIdentifier: central.identifier, peripheralIdentifier: peripheral.peripheralManagerIdentifier,
            requestedMTU: mtu)
    }

    private func agreed(_ peripheral: EmulatedCBPeripheral) async -> Int {
        await bus.getMTU(
            centralIdentifier: central.identifier, peripheralIdentifier: peripheral.peripheralManagerIdentifier)
    }

    func testALinkBeginsWithTheDefault() async throws {
        let peripheral = try await connected { $0.defaultMTU = 185 }
        XCTAssertEqual(peripheral.maximumWriteValueLength(for: .withResponse), 182)
    }

    func testTheDefaultCanBeSet() async throws {
        let peripheral = try await connected { $0.defaultMTU = 512 }
        XCTAssertEqual(peripheral.maximumWriteValueLength(for: .withResponse), 509)
    }

    func testALargerOneIsNegotiated() async throws {
        let peripheral = try await connected()
        var mtu = await agreed(peripheral)
        XCTAssertEqual(mtu, 185)
        mtu = await negotiate(256, peripheral)
        XCTAssertEqual(mtu, 256)
        mtu = await agreed(peripheral)
        XCTAssertEqual(mtu, 256)
    }

    func testTheMaximumIsKept() async throws {
        let peripheral = try await connected { $0.maximumMTU = 512 }
        let mtu = await negotiate(1_024, peripheral)
        XCTAssertEqual(mtu, 512)
    }
}

/// Full queues, with managers that were created under the default settings, in the form of the original's tests.
final class OriginalBackpressureTests: OriginalShapeTestCase {
    override var firstConfiguration: EmulatorConfiguration? { nil }
    private var served: EmulatedCBMutableCharacteristic!

    private func connected(
        _ change: (inout EmulatorConfiguration) -> Void
    ) async throws -> EmulatedCBPeripheral {
        await configure {
            $0.simulateBackpressure = true
            $0.backpressureProcessingDelay = 0.3
            change(&$0)
        }
        served = makeCharacteristic([.write, .writeWithoutResponse, .notify])
        publish(served)
        return try await connectAndDiscover()
    }

    func testAFullQueueTakesNoWrites() async throws {
        let peripheral = try await connected { $0.maxWriteWithoutResponseQueue = 3 }
        XCTAssertTrue(peripheral.canSendWriteWithoutResponse)
        for _ in 0..<3 { peripheral.writeValue(Data([1]), for: served, type: .withoutResponse) }
        try await step(50)
        XCTAssertFalse(peripheral.canSendWriteWithoutResponse)
        try await step(500)
        XCTAssertTrue(peripheral.canSendWriteWithoutResponse)
        let isReady = await noted(centralRecorder) { $0.count("writeReady") > 0 }
        XCTAssertTrue(isReady)
    }

    func testAFullQueueTakesNoNotifications() async throws {
        let peripheral = try await connected { $0.maxNotificationQueue = 3 }
        peripheral.setNotifyValue(true, for: served)
        try await step()
        XCTAssertTrue(served.isNotifying)
        for value in 0..<3 as Range<UInt8> {
            XCTAssertTrue(server.updateValue(Data([value]), for: served, onSubscribedCentrals: nil))
        }
        try await step(50)
        var hasRoom = await bus.canSendNotification(
            peripheralIdentifier: server.identifier, characteristicUUID: served.uuid)
        XCTAssertFalse(hasRoom)
        try await step(500)
        hasRoom = await bus.canSendNotification(
            peripheralIdentifier: server.identifier, characteristicUUID: served.uuid)
        XCTAssertTrue(hasRoom)
    }
}

/// The server's events at the end of a link, in the form of the original's tests.
final class OriginalSubscriptionTests: OriginalShapeTestCase {
    private var served: EmulatedCBMutableCharacteristic!

    private func subscribeAndDisconnect() async throws {
        served = makeCharacteristic(.notify)
        publish(served)
        let peripheral = try await connectAndDiscover()
        peripheral.setNotifyValue(true, for: served)
        try await step()
        XCTAssertTrue(served.isNotifying)
        central.cancelPeripheralConnection(peripheral)
        try await step(200)
    }

    func testTheServerHearsOfTheEndOfASubscription() async throws {
        try await subscribeAndDisconnect()
        let counts = await noted(serverRecorder) { [$0.count("subscribe"), $0.count("unsubscribe")] }
        XCTAssertEqual(counts, [1, 1])
    }

    func testASubscriptionEndsWithItsLink() async throws {
        try await subscribeAndDisconnect()
        XCTAssertFalse(served.isNotifying)
    }
}

/// Connection events, in the form of the original's tests.
final class OriginalConnectionEventTests: OriginalShapeTestCase {
    override var firstConfiguration: EmulatorConfiguration? {
        var configuration = EmulatorConfiguration.instant
        configuration.fireConnectionEvents = true
        return configuration
    }

    private func connected() async throws -> EmulatedCBPeripheral {
        central.registerForConnectionEvents()
        publish(makeCharacteristic())
        try await step()
        let peripheral = try await connect()
        try await step()
        return peripheral
    }

    func testAConnectionIsAnEvent() async throws {
        _ = try await connected()
        let events = await noted(centralRecorder) { $0.connectionEvents }
        XCTAssertEqual(events, [.peerConnected])
    }

    func testADisconnectionIsAnEvent() async throws {
        let peripheral = try await connected()
        central.cancelPeripheralConnection(peripheral)
        try await step(200)
        let events = await noted(centralRecorder) { $0.connectionEvents }
        XCTAssertEqual(events, [.peerConnected, .peerDisconnected])
    }

    func testThereAreNoEventsWhereTheyAreOff() async throws {
        await configure { $0.fireConnectionEvents = false }
        _ = try await connected()
        let events = await noted(centralRecorder) { $0.connectionEvents }
        XCTAssertEqual(events, [])
    }
}
