import CoreBluetooth
import XCTest

@testable import CoreBluetoothEmulator

final class WorkflowTests: RealTimeTestCase {
    func testBothRolesWorkFromEndToEnd() async throws {
        let served = makeCharacteristic()
        let manager = try await advertise(served)
        XCTAssertEqual(manager.state, .poweredOn)
        XCTAssertTrue(manager.isAdvertising)
        let (phone, peripheral) = try await connect()
        XCTAssertEqual(peripheral.identifier, manager.identifier)
        XCTAssertEqual(peripheral.name, "Test")

        peripheral.discoverServices([Self.service])
        try await step()
        let service = try XCTUnwrap(peripheral.services?.first)
        peripheral.discoverCharacteristics(nil, for: service)
        try await step()
        let characteristic = try XCTUnwrap(service.characteristics?.first)
        XCTAssertEqual(characteristic.uuid, Self.characteristic)

        peripheral.readValue(for: characteristic)
        try await step()
        XCTAssertEqual(characteristic.value, Data([1]))
        XCTAssertEqual(server.reads.count, 1)

        peripheral.writeValue(Data([2, 3]), for: characteristic, type: .withResponse)
        try await step()
        XCTAssertEqual(served.value, Data([2, 3]))
        XCTAssertEqual(central.count("write"), 1)

        peripheral.setNotifyValue(true, for: characteristic)
        try await step()
        XCTAssertTrue(characteristic.isNotifying)
        XCTAssertTrue(served.isNotifying)
        XCTAssertEqual(served.subscribedCentrals?.map(\.identifier), [phone.identifier])

        XCTAssertTrue(manager.updateValue(Data([9]), for: served, onSubscribedCentrals: nil))
        try await step()
        XCTAssertEqual(central.updates.last, Data([9]))

        phone.cancelPeripheralConnection(peripheral)
        try await step()
        XCTAssertEqual(central.count("disconnect"), 1)
        XCTAssertNil(central.errors["disconnect"])
        XCTAssertEqual(server.count("unsubscribe"), 1)
        XCTAssertFalse(served.isNotifying)
    }

    func testTheServersOwnObjectsAreTakenForTheDiscoveredOnes() async throws {
        let served = makeCharacteristic()
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        peripheral.readValue(for: served)
        peripheral.setNotifyValue(true, for: served)
        try await step()
        XCTAssertEqual(central.updates, [Data([1])])
        XCTAssertEqual(central.count("services"), 0)
        XCTAssertEqual(central.count("notifyState"), 1)
        peripheral.writeValue(Data([7]), for: served, type: .withoutResponse)
        try await step()
        XCTAssertEqual(served.value, Data([7]))
        withExtendedLifetime((manager, phone)) {}
    }
}
