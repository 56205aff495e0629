import CoreBluetooth
import XCTest

@testable import CoreBluetoothEmulator

final class ScanTests: RealTimeTestCase {
    private func data(of name: String) -> [String: Any]? {
        central.discovered.last { $0.data[CBAdvertisementDataLocalNameKey] as? String == name }?.data
    }

    func testAScanReportsOnceWithoutDuplicatesAndOftenWithThem() async throws {
        let manager = try await advertise(makeCharacteristic())
        let phone = EmulatedCBCentralManager(delegate: central, queue: nil)
        try await step()
        XCTAssertEqual(phone.state, .poweredOn)
        phone.scanForPeripherals(withServices: [Self.service])
        XCTAssertTrue(phone.isScanning)
        try await step()
        XCTAssertEqual(central.discovered.count, 1)
        phone.scanForPeripherals(
            withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        try await step(150)
        XCTAssertGreaterThan(central.discovered.count, 3)
        XCTAssertTrue(central.discovered.allSatisfy { $0.peripheral === central.discovered[0].peripheral })
        XCTAssertTrue(central.discovered.allSatisfy { (-60 ... -50).contains($0.rssi) })
        phone.stopScan()
        XCTAssertFalse(phone.isScanning)
        withExtendedLifetime(manager) {}
    }

    func testAnOptionThatIsNotHonoredIsDropped() async throws {
        await configure { $0.honorAllowDuplicatesOption = false }
        let manager = try await advertise(makeCharacteristic())
        let phone = EmulatedCBCentralManager(delegate: central, queue: nil)
        try await step()
        phone.scanForPeripherals(withServices: [], options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        try await step(150)
        XCTAssertEqual(central.discovered.count, 1)
        withExtendedLifetime((manager, phone)) {}
    }

    func testASolicitedServiceIsFoundUnlessTheOptionIsNotHonored() async throws {
        let manager = EmulatedCBPeripheralManager(delegate: server, queue: nil)
        let phone = EmulatedCBCentralManager(delegate: central, queue: nil)
        try await step()
        let solicited = CBUUID(string: "AAAA")
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "S", CBAdvertisementDataSolicitedServiceUUIDsKey: [solicited],
        ])
        let options = [CBCentralManagerScanOptionSolicitedServiceUUIDsKey: [solicited]]
        phone.scanForPeripherals(withServices: [Self.service], options: options)
        try await step()
        XCTAssertEqual(central.discovered.count, 1)
        XCTAssertEqual(data(of: "S")?[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID], [solicited])
        await configure { $0.honorSolicitedServiceUUIDs = false }
        phone.scanForPeripherals(withServices: [Self.service], options: options)
        try await step()
        XCTAssertEqual(central.discovered.count, 1)
    }

    func testAdvertisementFieldsAreAddedUnlessGivenOrSwitchedOff() async throws {
        let phone = EmulatedCBCentralManager(delegate: central, queue: nil)
        let (added, given) = (
            EmulatedCBPeripheralManager(delegate: server, queue: nil),
            EmulatedCBPeripheralManager(delegate: server, queue: nil)
        )
        try await step()
        phone.scanForPeripherals(withServices: nil)
        added.startAdvertising([CBAdvertisementDataLocalNameKey: "added"])
        given.startAdvertising([
            CBAdvertisementDataLocalNameKey: "given", CBAdvertisementDataTxPowerLevelKey: NSNumber(value: 4),
            CBAdvertisementDataIsConnectable: NSNumber(value: false), "own": "key",
            CBAdvertisementDataManufacturerDataKey: Data([1, 2, 3]),
        ])
        try await step()
        XCTAssertEqual((data(of: "added")?[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue, true)
        let power = try XCTUnwrap(data(of: "added")?[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)
        XCTAssertTrue((-12 ... -4).contains(power.intValue))
        XCTAssertEqual((data(of: "given")?[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue, false)
        XCTAssertEqual((data(of: "given")?[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue, 4)
        XCTAssertEqual(data(of: "given")?["own"] as? String, "key")
        XCTAssertEqual(data(of: "given")?[CBAdvertisementDataManufacturerDataKey] as? Data, Data([1, 2, 3]))

        await configure { $0.autoGenerateAdvertisementFields = false }
        added.stopAdvertising()
        added.startAdvertising([CBAdvertisementDataLocalNameKey: "bare"])
        try await step()
        let bare = try XCTUnwrap(data(of: "bare"))
        XCTAssertNil(bare[CBAdvertisementDataIsConnectable])
        XCTAssertNil(bare[CBAdvertisementDataTxPowerLevelKey])
    }

    func testALongAdvertisementArrivesWhole() async throws {
        let phone = EmulatedCBCentralManager(delegate: central, queue: nil)
        let manager = EmulatedCBPeripheralManager(delegate: server, queue: nil)
        try await step()
        phone.scanForPeripherals(withServices: [CBUUID(string: "0000FFE0-0000-1000-8000-00805F9B34FC")])
        let services = (0..<3).map { CBUUID(string: "0000FFE\($0)-0000-1000-8000-00805F9B34FC") }
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "A name that is too long for a packet",
            CBAdvertisementDataServiceUUIDsKey: services,
            CBAdvertisementDataServiceDataKey: [services[0]: Data(repeating: 7, count: 40)],
        ])
        try await step()
        XCTAssertEqual(central.discovered.count, 1)
        let data = try XCTUnwrap(data(of: "A name that is too long for a packet"))
        XCTAssertEqual(data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID], services)
        let serviceData = data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data]
        XCTAssertEqual(serviceData?[services[0]]?.count, 40)
        XCTAssertEqual(central.discovered.first?.peripheral.name, "A name that is too long for a packet")
    }

    func testAConnectWaitsForAnAdvertisement() async throws {
        let manager = try await advertise(makeCharacteristic())
        let phone = EmulatedCBCentralManager(delegate: central, queue: nil)
        try await step()
        phone.scanForPeripherals(withServices: nil)
        try await step()
        manager.stopAdvertising()
        XCTAssertFalse(manager.isAdvertising)
        let peripheral = try XCTUnwrap(central.discovered.first?.peripheral)
        phone.connect(peripheral)
        try await step()
        XCTAssertEqual(peripheral.state, .connecting)
        manager.startAdvertising([CBAdvertisementDataLocalNameKey: "back"])
        try await step()
        XCTAssertEqual(peripheral.state, .connected)
        XCTAssertEqual(phone.retrievePeripherals(withIdentifiers: [manager.identifier]), [peripheral])
        XCTAssertEqual(phone.retrieveConnectedPeripherals(withServices: [Self.service]), [peripheral])
    }

    func testALinkEndsWithItsPeripheralManager() async throws {
        var manager: EmulatedCBPeripheralManager? = try await advertise(makeCharacteristic())
        let (phone, peripheral) = try await connect()
        manager = nil
        try await step()
        XCTAssertNil(manager)
        XCTAssertEqual(central.count("disconnect"), 1)
        XCTAssertEqual(peripheral.state, .disconnected)
        withExtendedLifetime(phone) {}
    }
}
