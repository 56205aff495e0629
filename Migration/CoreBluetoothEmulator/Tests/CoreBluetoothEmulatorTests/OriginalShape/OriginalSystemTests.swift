import CoreBluetooth
import XCTest

@testable import CoreBluetoothEmulator

/// L2CAP channels, in the form of the original's tests.
final class OriginalChannelTests: OriginalShapeTestCase {
    override var firstConfiguration: EmulatorConfiguration? {
        var configuration = EmulatorConfiguration.instant
        configuration.l2capSupported = true
        return configuration
    }

    private func publishedChannel(isEncrypted: Bool = false) async throws -> CBL2CAPPSM {
        server.publishL2CAPChannel(withEncryption: isEncrypted)
        try await step()
        let psm = await noted(serverRecorder) { $0.publishedPSM }
        return try XCTUnwrap(psm, "no channel was published")
    }

    private func open(_ psm: CBL2CAPPSM) async throws {
        let peripheral = try await connect()
        peripheral.openL2CAPChannel(psm)
        try await step(300)
    }

    func testAChannelIsPublished() async throws {
        let psm = try await publishedChannel()
        XCTAssertGreaterThan(psm, 0)
    }

    func testBothSidesHaveAnOpenChannel() async throws {
        publish(makeCharacteristic())
        let psm = try await publishedChannel()
        try await open(psm)
        let client = await noted(centralRecorder) { $0.clientChannel?.psm }
        let served = await noted(serverRecorder) { $0.serverChannel?.psm }
        XCTAssertEqual([client, served], [psm, psm])
    }

    func testAnEncryptedChannelOpensAfterPairing() async throws {
        publish(makeCharacteristic())
        await configure {
            $0.l2capSupported = true
            $0.simulatePairing = true
            $0.pairingSucceeds = true
        }
        try await open(try await publishedChannel(isEncrypted: true))
        let isOpen = await noted(centralRecorder) { $0.clientChannel != nil }
        XCTAssertTrue(isOpen)
    }

    func testAChannelIsWithdrawn() async throws {
        server.unpublishL2CAPChannel(try await publishedChannel())
        try await step()
        let log = await noted(serverRecorder) { ($0.count("unpublish"), $0.errors["unpublish"] == nil) }
        XCTAssertEqual(log.0, 1)
        XCTAssertTrue(log.1)
    }

    func testAChannelThatIsNotPublishedDoesNotOpen() async throws {
        publish(makeCharacteristic())
        try await open(99)
        let result = await noted(centralRecorder) { ($0.clientChannel == nil, $0.errors["openChannel"] != nil) }
        XCTAssertTrue(result.0 && result.1)
    }
}

/// Permission for notifications of the phone, in the form of the original's tests.
final class OriginalANCSTests: OriginalShapeTestCase {
    override var firstConfiguration: EmulatorConfiguration? {
        var configuration = EmulatorConfiguration.instant
        configuration.fireANCSAuthorizationUpdates = true
        return configuration
    }

    /// - Returns: The number of permissions that the server received.
    private func decide(_ isAllowed: Bool, for manager: EmulatedCBCentralManager) async throws -> Int {
        await bus.updateANCSAuthorization(for: manager.identifier, status: isAllowed ? .authorized : .denied)
        try await step(200)
        return await noted(serverRecorder) { $0.ancs.count }
    }

    func testTheServerHearsOfAPermission() async throws {
        publish(makeCharacteristic())
        _ = try await connect()
        let count = try await decide(true, for: central)
        XCTAssertEqual(count, 1)
    }

    func testEachCentralHasItsPermission() async throws {
        publish(makeCharacteristic())
        let recorder = Recorder()
        let other = EmulatedCBCentralManager(delegate: recorder, queue: nil)
        try await step()
        _ = try await connect()
        other.scanForPeripherals(withServices: nil)
        // The peripheral advertises while one central is connected.
        try await step()
        let found = await noted(recorder) { $0.discovered.first?.peripheral }
        if let found { other.connect(found) }
        try await step()
        var count = try await decide(true, for: central)
        XCTAssertEqual(count, 1)
        count = try await decide(false, for: other)
        XCTAssertEqual(count, 2)
    }

    func testNoPermissionIsReportedWhereThatIsOff() async throws {
        await configure { $0.fireANCSAuthorizationUpdates = false }
        publish(makeCharacteristic())
        _ = try await connect()
        let count = try await decide(true, for: central)
        XCTAssertEqual(count, 0)
    }

    func testAPermissionIsKept() async throws {
        await bus.updateANCSAuthorization(for: central.identifier, status: .authorized)
        let status = await bus.getANCSAuthorization(for: central.identifier)
        XCTAssertEqual(status, .authorized)
    }

    func testAPermissionIsUndeterminedAtFirst() async throws {
        let status = await bus.getANCSAuthorization(for: UUID())
        XCTAssertEqual(status, .notDetermined)
    }
}

/// State restoration, in the form of the original's tests.
final class OriginalRestorationTests: OriginalShapeTestCase {
    override var firstConfiguration: EmulatorConfiguration? {
        var configuration = EmulatorConfiguration.instant
        configuration.stateRestorationEnabled = true
        return configuration
    }

    private func makeCentral(_ recorder: Recorder) {
        central = EmulatedCBCentralManager(
            delegate: recorder, queue: nil, options: [CBCentralManagerOptionRestoreIdentifierKey: "central"])
    }

    private func makeServer(_ recorder: Recorder) {
        server = EmulatedCBPeripheralManager(
            delegate: recorder, queue: nil, options: [CBPeripheralManagerOptionRestoreIdentifierKey: "server"])
    }

    func testAConnectionIsRestored() async throws {
        makeCentral(centralRecorder)
        publish(makeCharacteristic())
        try await step()
        let peripheral = try await connect()
        try await bus.saveCentralState(centralIdentifier: central.identifier, restoreIdentifier: "central")
        central = nil
        try await step()
        let recorder = Recorder()
        makeCentral(recorder)
        try await step(200)
        let restored = await noted(recorder) {
            $0.centralRestored?[CBCentralManagerRestoredStatePeripheralsKey] as? [EmulatedCBPeripheral]
        }
        XCTAssertEqual(restored?.map(\.identifier), [peripheral.identifier])
    }

    func testAnAdvertisementIsRestored() async throws {
        makeServer(serverRecorder)
        try await step()
        advertise(name: "Restored")
        try await step()
        XCTAssertTrue(server.isAdvertising)
        try await bus.savePeripheralState(peripheralIdentifier: server.identifier, restoreIdentifier: "server")
        server = nil
        try await step()
        let recorder = Recorder()
        makeServer(recorder)
        try await step(300)
        let data = await noted(recorder) {
            $0.peripheralRestored?[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
        }
        XCTAssertEqual(data?[CBAdvertisementDataLocalNameKey] as? String, "Restored")
    }

    func testNothingIsRestoredWhereNothingWasSaved() async throws {
        makeCentral(centralRecorder)
        try await step(200)
        let restored = await noted(centralRecorder) { $0.centralRestored }
        XCTAssertEqual(restored?.count, 0)
    }
}
