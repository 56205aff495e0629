import CoreBluetooth
import XCTest

@testable import CoreBluetoothEmulator

/// Advertisements without and with fields of the app, in the form of the original's tests.
final class OriginalAdvertisedFieldsTests: OriginalShapeTestCase {
    private func advertisedData(_ more: [String: Any] = [:]) async throws -> [String: Any] {
        publish(makeCharacteristic())
        try await step()
        advertise(more)
        central.scanForPeripherals(withServices: [Self.service])
        try await step(200)
        let data = await noted(centralRecorder) { $0.discovered.first?.data }
        return try XCTUnwrap(data, "nothing was discovered")
    }

    private func power(_ data: [String: Any]) -> Int? {
        (data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue
    }

    private func isConnectable(_ data: [String: Any]) -> Bool? {
        (data[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue
    }

    func testThePowerIsMade() async throws {
        let data = try await advertisedData()
        XCTAssertTrue((-12 ... -4).contains(try XCTUnwrap(power(data))))
    }

    func testWhatIsAdvertisedIsConnectable() async throws {
        let data = try await advertisedData()
        XCTAssertEqual(isConnectable(data), true)
    }

    func testFieldsOfTheAppStay() async throws {
        let data = try await advertisedData([
            CBAdvertisementDataTxPowerLevelKey: NSNumber(value: -20),
            CBAdvertisementDataIsConnectable: NSNumber(value: false),
        ])
        XCTAssertEqual(power(data), -20)
        XCTAssertEqual(isConnectable(data), false)
    }

    func testNoFieldIsMadeWhereThatIsOff() async throws {
        await configure { $0.autoGenerateAdvertisementFields = false }
        let data = try await advertisedData()
        XCTAssertNil(power(data))
        XCTAssertNil(isConnectable(data))
    }

    func testAllFieldsArrive() async throws {
        let data = try await advertisedData([
            CBAdvertisementDataManufacturerDataKey: Data([1, 2, 3, 4]),
            CBAdvertisementDataServiceDataKey: [CBUUID(string: "6666"): Data([5, 6])],
        ])
        XCTAssertEqual(data[CBAdvertisementDataLocalNameKey] as? String, "Device")
        XCTAssertEqual(data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID], [Self.service])
        XCTAssertEqual(data[CBAdvertisementDataManufacturerDataKey] as? Data, Data([1, 2, 3, 4]))
        XCTAssertNotNil(data[CBAdvertisementDataServiceDataKey])
        XCTAssertNotNil(power(data))
        XCTAssertNotNil(isConnectable(data))
    }
}

/// The options of a scan, in the form of the original's tests.
final class OriginalScanOptionsTests: OriginalShapeTestCase {
    override var firstConfiguration: EmulatorConfiguration? { nil }

    private func count(of options: [String: Any], in milliseconds: UInt64) async throws -> Int {
        _ = await noted(centralRecorder) { $0.discovered.removeAll() }
        central.scanForPeripherals(withServices: nil, options: options)
        try await step(milliseconds)
        central.stopScan()
        let count = await noted(centralRecorder) { $0.discovered.count }
        try await step(50)
        return count
    }

    func testDuplicatesAreReportedWhereTheyAreAllowed() async throws {
        await configure { $0.honorAllowDuplicatesOption = true }
        publish()
        advertise()
        let all = try await count(of: [CBCentralManagerScanOptionAllowDuplicatesKey: true], in: 200)
        XCTAssertGreaterThan(all, 1)
        let firsts = try await count(of: [CBCentralManagerScanOptionAllowDuplicatesKey: false], in: 200)
        XCTAssertEqual(firsts, 1)
    }

    func testWhatSolicitsIsFound() async throws {
        await configure { $0.honorSolicitedServiceUUIDs = true }
        publish()
        advertise([CBAdvertisementDataSolicitedServiceUUIDsKey: [CBUUID(string: "5678")]])
        let key = CBCentralManagerScanOptionSolicitedServiceUUIDsKey
        let matches = try await count(of: [key: [CBUUID(string: "5678")]], in: 100)
        XCTAssertEqual(matches, 1)
        let others = try await count(of: [key: [CBUUID(string: "ABCD")]], in: 100)
        XCTAssertEqual(others, 0)
    }
}

/// Both roles from end to end, in the form of the original's tests.
final class OriginalWorkflowTests: OriginalShapeTestCase {
    func testBothRolesWorkTogether() async throws {
        let read = EmulatedCBMutableCharacteristic(
            type: CBUUID(string: "2A37"), properties: .read, value: Data([1, 2, 3]), permissions: .readable)
        let write = EmulatedCBMutableCharacteristic(
            type: CBUUID(string: "2A38"), properties: .write, value: nil, permissions: .writeable)
        let notify = EmulatedCBMutableCharacteristic(
            type: CBUUID(string: "2A39"), properties: .notify, value: nil, permissions: .readable)
        publish(read, write, notify)
        let peripheral = try await connectAndDiscover()
        let found = try XCTUnwrap(peripheral.services?.first?.characteristics)
        XCTAssertEqual(found.map(\.uuid), [read.uuid, write.uuid, notify.uuid])

        peripheral.readValue(for: found[0])
        try await step()
        XCTAssertEqual(found[0].value, Data([1, 2, 3]))
        peripheral.writeValue(Data([4, 5]), for: found[1], type: .withResponse)
        try await step()
        peripheral.setNotifyValue(true, for: found[2])
        try await step()
        XCTAssertTrue(found[2].isNotifying)
        server.updateValue(Data([6, 7]), for: notify, onSubscribedCentrals: nil)
        try await step()
        let last = await noted(centralRecorder) { $0.updates.last }
        XCTAssertEqual(last, Data([6, 7]))
        peripheral.setNotifyValue(false, for: found[2])
        try await step()
        XCTAssertFalse(found[2].isNotifying)
        central.cancelPeripheralConnection(peripheral)
        try await step(200)
        XCTAssertEqual(peripheral.state, .disconnected)
        let served = await noted(serverRecorder) { log in
            ["read", "receiveWrite", "subscribe", "unsubscribe"].map { log.count($0) }
        }
        XCTAssertEqual(served, [1, 1, 1, 1])
        let heard = await noted(centralRecorder) { log in ["connect", "write", "disconnect"].map { log.count($0) } }
        XCTAssertEqual(heard, [1, 1, 1])
    }
}
