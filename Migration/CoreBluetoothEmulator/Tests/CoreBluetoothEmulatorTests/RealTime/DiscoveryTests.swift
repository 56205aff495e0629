import CoreBluetooth
import XCTest

@testable import CoreBluetoothEmulator

final class DiscoveryTests: RealTimeTestCase {
    func testAFilteredDiscoveryLeavesTheServersDatabase() async throws {
        let manager = EmulatedCBPeripheralManager(delegate: server, queue: nil)
        try await step()
        let included = EmulatedCBMutableService(type: CBUUID(string: "1111"), primary: false)
        let service = EmulatedCBMutableService(type: Self.service, primary: true)
        let uuids = ["AA01", "AA02", "AA02"].map { CBUUID(string: $0) }
        service.characteristics = uuids.map {
            EmulatedCBMutableCharacteristic(type: $0, properties: .read, value: nil, permissions: .readable)
        }
        service.includedServices = [included]
        XCTAssertTrue(service.characteristics?.first?.service === service)
        manager.add(included)
        manager.add(service)
        manager.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
        try await step()
        XCTAssertTrue(server.addedServices.last === service)
        let (phone, peripheral) = try await connect()
        XCTAssertNil(peripheral.name)
        peripheral.discoverServices([CBUUID(string: "9999")])
        try await step()
        XCTAssertEqual(peripheral.services, [])
        peripheral.discoverServices(nil)
        try await step()
        let found = try XCTUnwrap(peripheral.services?.first)
        XCTAssertTrue(found.peripheral === peripheral)
        XCTAssertTrue(found.isPrimary)
        peripheral.discoverCharacteristics([uuids[1]], for: found)
        peripheral.discoverIncludedServices(nil, for: found)
        try await step()
        XCTAssertEqual(found.characteristics?.count, 2)
        XCTAssertEqual(found.includedServices?.map(\.uuid), [included.uuid])
        XCTAssertEqual(service.characteristics?.count, 3)
        XCTAssertTrue(found.characteristics?.first?.service === found)
        XCTAssertEqual(central.log.suffix(2).sorted(), ["characteristics", "included"])
        peripheral.readRSSI()
        try await step()
        XCTAssertTrue((-60 ... -50).contains(try XCTUnwrap(central.rssi)))
        withExtendedLifetime(phone) {}
    }

    func testServicesComeAndGoWhileConnected() async throws {
        let manager = try await advertise(makeCharacteristic())
        let (phone, peripheral) = try await connect()
        peripheral.discoverServices(nil)
        try await step()
        let service = try XCTUnwrap(manager.publishedServices.first)
        manager.remove(service)
        try await step()
        XCTAssertEqual(central.count("modifyServices"), 1)
        XCTAssertEqual(peripheral.services, [])
        manager.add(service)
        manager.add(service)
        try await step()
        XCTAssertEqual((server.errors["add"] as? CBError)?.code, .invalidParameters)
        XCTAssertEqual(manager.publishedServices.count, 1)
        manager.removeAllServices()
        XCTAssertEqual(manager.publishedServices.count, 0)
        withExtendedLifetime(phone) {}
    }

    func testDescriptorsOfAnyTypeAreFoundReadAndWritten() async throws {
        let served = makeCharacteristic([.read, .notify])
        let text = EmulatedCBMutableDescriptor(
            type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "text")
        let own = EmulatedCBMutableDescriptor(type: CBUUID(string: "ABCD"), value: Data([1, 2]))
        let closed = EmulatedCBMutableDescriptor(type: CBUUID(string: "ABCE"), value: nil, permissions: [])
        served.descriptors = [text, own, closed]
        XCTAssertTrue(own.characteristic === served)
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        peripheral.discoverDescriptors(for: served)
        try await step()
        let characteristic = try XCTUnwrap(peripheral.object(of: served))
        let found = try XCTUnwrap(characteristic.descriptors)
        XCTAssertEqual(Set(found.map(\.uuid.uuidString)), ["2901", "2902", "ABCD", "ABCE"])
        for descriptor in found { peripheral.readValue(for: descriptor) }
        try await step()
        let values = Dictionary(uniqueKeysWithValues: found.map { ($0.uuid.uuidString, $0) })
        XCTAssertEqual(values["2901"]?.value as? String, "text")
        XCTAssertEqual((values["2902"]?.value as? NSNumber)?.intValue, 0)
        XCTAssertEqual(values["ABCD"]?.value as? Data, Data([1, 2]))
        XCTAssertTrue(values["ABCD"]?.characteristic === characteristic)
        XCTAssertEqual((central.errors["descriptorValue"] as? CBATTError)?.code, .readNotPermitted)
        peripheral.writeValue(Data([3]), for: try XCTUnwrap(values["ABCD"]))
        peripheral.writeValue(Data([4]), for: own)
        try await step()
        XCTAssertEqual(central.count("descriptorWrite"), 2)
        XCTAssertEqual(own.value as? Data, Data([4]))
        withExtendedLifetime((manager, phone)) {}
    }
}
