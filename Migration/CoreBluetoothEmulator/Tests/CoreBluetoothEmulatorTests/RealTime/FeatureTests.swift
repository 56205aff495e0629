import CoreBluetooth
import XCTest

@testable import CoreBluetoothEmulator

final class FeatureTests: RealTimeTestCase {
    // MARK: L2CAP

    func testBytesGoBothWaysOverAChannel() async throws {
        await configure { $0.l2capSupported = true }
        let manager = try await advertise(makeCharacteristic())
        let (phone, peripheral) = try await connect()
        manager.publishL2CAPChannel(withEncryption: false)
        try await step()
        let psm = try XCTUnwrap(server.publishedPSM)
        XCTAssertTrue((0x80...0xFF).contains(psm))
        peripheral.openL2CAPChannel(psm)
        try await step()
        let (client, served) = (try XCTUnwrap(central.clientChannel), try XCTUnwrap(server.serverChannel))
        XCTAssertEqual([client.psm, served.psm], [psm, psm])
        XCTAssertTrue(client.peer === peripheral)
        XCTAssertEqual(served.peer.identifier, phone.identifier)
        XCTAssertEqual(client.inputStream?.streamStatus, .open)
        XCTAssertEqual(client.outputStream?.streamStatus, .open)
        XCTAssertTrue(client.isOpen)
        XCTAssertEqual(client.send(data: Data("ping".utf8)), 4)
        try await step()
        XCTAssertEqual(served.receive(maxLength: 100), Data("ping".utf8))
        XCTAssertNil(served.receive(maxLength: 100))
        XCTAssertEqual(served.send(data: Data("pong".utf8)), 4)
        try await step()
        XCTAssertEqual(client.receive(maxLength: 2), Data("po".utf8))
        XCTAssertEqual(client.receive(maxLength: 2), Data("ng".utf8))
        await EmulatorBus.shared.closeL2CAPChannel(channelIdentifier: client.identifier)
        XCTAssertFalse(client.isOpen)
        manager.unpublishL2CAPChannel(psm)
        try await step()
        XCTAssertEqual(server.count("unpublish"), 1)
        peripheral.openL2CAPChannel(psm)
        try await step()
        XCTAssertNotNil(central.errors["openChannel"])
    }

    func testNumbersOfChannelsAreOfTheConfiguredRange() async throws {
        await configure {
            $0.l2capSupported = true
            $0.l2capPSMRange = 0x1001...0x1002
        }
        let manager = try await advertise(makeCharacteristic())
        let (phone, peripheral) = try await connect()
        for _ in 0..<3 { manager.publishL2CAPChannel(withEncryption: true) }
        try await step()
        XCTAssertEqual(server.count("publish"), 3)
        XCTAssertEqual((server.errors["publish"] as? CBError)?.code, .outOfSpace)
        peripheral.openL2CAPChannel(0x1002)
        try await step()
        XCTAssertEqual(central.clientChannel?.psm, 0x1002)
        XCTAssertEqual(server.serverChannel?.psm, 0x1002)
        withExtendedLifetime(phone) {}
    }

    func testChannelsFailWhereTheyAreNotSupported() async throws {
        let manager = try await advertise(makeCharacteristic())
        let (phone, peripheral) = try await connect()
        manager.publishL2CAPChannel(withEncryption: false)
        peripheral.openL2CAPChannel(0x80)
        try await step()
        XCTAssertEqual((server.errors["publish"] as? CBError)?.code, .connectionFailed)
        XCTAssertEqual(server.publishedPSM, 0)
        XCTAssertEqual((central.errors["openChannel"] as? CBError)?.code, .connectionFailed)
        withExtendedLifetime(phone) {}
    }

    // MARK: ANCS

    func testANCSAuthorizationIsKeptAndReported() async throws {
        await configure { $0.fireANCSAuthorizationUpdates = true }
        let manager = try await advertise(makeCharacteristic())
        let (phone, _) = try await connect()
        let bus = EmulatorBus.shared
        let before = await bus.getANCSAuthorization(for: phone.identifier)
        XCTAssertEqual(before.rawValue, 0)
        await bus.updateANCSAuthorization(for: phone.identifier, status: .authorized)
        try await step()
        let after = await bus.getANCSAuthorization(for: phone.identifier)
        XCTAssertEqual(after.rawValue, 3)
        XCTAssertEqual(server.ancs.map(\.identifier), [phone.identifier])
        XCTAssertEqual(central.count("centralANCS"), 1)
        withExtendedLifetime(manager) {}
    }

    func testANCSUpdatesAreNotReportedWhileTheyAreOff() async throws {
        let manager = EmulatedCBPeripheralManager(delegate: server, queue: nil)
        let identifier = UUID()
        await EmulatorBus.shared.updateANCSAuthorization(for: identifier, status: .denied)
        try await step()
        let status = await EmulatorBus.shared.getANCSAuthorization(for: identifier)
        XCTAssertEqual(status.rawValue, 2)
        XCTAssertEqual(server.ancs.count, 0)
        withExtendedLifetime(manager) {}
    }

    // MARK: Restoration

    func testACentralIsRestoredWithItsLink() async throws {
        await configure { $0.stateRestorationEnabled = true }
        let served = makeCharacteristic()
        let manager = try await advertise(served)
        let options = [CBCentralManagerOptionRestoreIdentifierKey: "app"]
        var (first, peripheral): (EmulatedCBCentralManager?, EmulatedCBPeripheral) = try await connect(options: options)
        peripheral.setNotifyValue(true, for: served)
        peripheral.discoverServices(nil)
        try await step()
        XCTAssertEqual(central.centralRestored?.isEmpty, true)
        let identifier = try XCTUnwrap(first?.identifier)
        try await EmulatorBus.shared.saveCentralState(centralIdentifier: identifier, restoreIdentifier: "app")
        central.discovered = []
        first = nil
        XCTAssertNil(first)
        try await step()
        let second = EmulatedCBCentralManager(delegate: central, queue: nil, options: options)
        try await step()
        let key = CBCentralManagerRestoredStatePeripheralsKey
        let restored = try XCTUnwrap(central.centralRestored?[key] as? [EmulatedCBPeripheral])
        XCTAssertEqual(restored.map(\.identifier), [manager.identifier])
        XCTAssertEqual(restored.first?.state, .connected)
        let service = try XCTUnwrap(restored.first?.services?.first)
        XCTAssertEqual(service.uuid, Self.service)
        XCTAssertEqual(service.characteristics?.map(\.isNotifying), [true])
        XCTAssertEqual(served.subscribedCentrals?.map(\.identifier), [identifier])
        XCTAssertFalse(peripheral === restored.first)
        peripheral = restored[0]
        restored.first?.delegate = central
        restored.first?.readValue(for: served)
        try await step()
        XCTAssertEqual(central.updates, [Data([1])])
        second.cancelPeripheralConnection(restored[0])
        try await step()
        XCTAssertEqual(central.count("disconnect"), 1)
        let connected = await EmulatorBus.shared.getConnectedPeripherals(for: identifier)
        XCTAssertEqual(connected, [])
    }

    func testAPeripheralIsRestoredWithServicesAndAdvertisement() async throws {
        await configure { $0.stateRestorationEnabled = true }
        let options = [CBPeripheralManagerOptionRestoreIdentifierKey: "app"]
        var first: EmulatedCBPeripheralManager? = try await advertise(makeCharacteristic())
        let identifier = try XCTUnwrap(first?.identifier)
        let bus = EmulatorBus.shared
        try await bus.savePeripheralState(peripheralIdentifier: identifier, restoreIdentifier: "app")
        let state = try await bus.restoreState(
            identifier: "app", as: EmulatorBus.RestoredPeripheralState.self)
        XCTAssertEqual(state?.peripheralIdentifier, identifier)
        XCTAssertEqual(state?.isAdvertising, true)
        XCTAssertEqual(state?.advertisementData[CBAdvertisementDataLocalNameKey], Data("Test".utf8))
        first = nil
        XCTAssertNil(first)
        let second = EmulatedCBPeripheralManager(delegate: server, queue: nil, options: options)
        try await step()
        XCTAssertEqual(second.identifier, identifier)
        let services = server.peripheralRestored?[CBPeripheralManagerRestoredStateServicesKey]
        XCTAssertEqual((services as? [EmulatedCBMutableService])?.map(\.uuid), [Self.service])
        let data = server.peripheralRestored?[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
        XCTAssertEqual(data?[CBAdvertisementDataLocalNameKey] as? String, "Test")
        XCTAssertTrue(second.isAdvertising)
        let (phone, peripheral) = try await connect()
        let restored = try XCTUnwrap((services as? [EmulatedCBMutableService])?.first?.characteristics?.first)
        peripheral.readValue(for: restored)
        try await step()
        XCTAssertEqual(central.updates, [Data([1])])
        withExtendedLifetime(phone) {}
    }

    func testNothingIsRestoredWhileThatIsOff() async throws {
        let manager = EmulatedCBPeripheralManager(delegate: server, queue: nil)
        try await EmulatorBus.shared.savePeripheralState(
            peripheralIdentifier: manager.identifier, restoreIdentifier: "app")
        let other = EmulatedCBPeripheralManager(
            delegate: server, queue: nil, options: [CBPeripheralManagerOptionRestoreIdentifierKey: "app"])
        try await step()
        XCTAssertNil(server.peripheralRestored)
        XCTAssertNotEqual(other.identifier, manager.identifier)
    }

    // MARK: Pairing

    func testAProtectedValueIsReadAfterPairing() async throws {
        await configure { ($0.requirePairing, $0.simulatePairing) = (true, true) }
        let served = makeCharacteristic([.read], permissions: [.readEncryptionRequired])
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        let bus = EmulatorBus.shared
        var isPaired = await bus.isPaired(
            centralIdentifier: phone.identifier, peripheralIdentifier: manager.identifier)
        XCTAssertFalse(isPaired)
        let isRequired = await bus.requiresPairing(characteristic: served)
        XCTAssertTrue(isRequired)
        peripheral.readValue(for: served)
        try await step()
        XCTAssertEqual(central.updates, [Data([1])])
        isPaired = await bus.isPaired(
            centralIdentifier: phone.identifier, peripheralIdentifier: manager.identifier)
        XCTAssertTrue(isPaired)
    }

    func testAFailedPairingRefusesTheRead() async throws {
        await configure { ($0.requirePairing, $0.simulatePairing, $0.pairingSucceeds) = (true, true, false) }
        let served = makeCharacteristic([.read], permissions: [.readEncryptionRequired])
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        peripheral.readValue(for: served)
        try await step()
        XCTAssertEqual((central.errors["value"] as? CBATTError)?.code, .insufficientAuthentication)
        XCTAssertEqual(server.reads.count, 0)
        do {
            try await EmulatorBus.shared.pair(
                centralIdentifier: phone.identifier, peripheralIdentifier: manager.identifier)
            XCTFail("the pairing succeeded")
        } catch {
            XCTAssertEqual((error as? CBATTError)?.code, .insufficientAuthentication)
        }
    }

    func testProtectionDoesNotCountUnlessRequired() async throws {
        let served = makeCharacteristic([.read], permissions: [.readEncryptionRequired])
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        peripheral.readValue(for: served)
        try await step()
        XCTAssertEqual(central.updates, [Data([1])])
        let isPaired = await EmulatorBus.shared.isPaired(
            centralIdentifier: phone.identifier, peripheralIdentifier: manager.identifier)
        XCTAssertFalse(isPaired)
    }
}
