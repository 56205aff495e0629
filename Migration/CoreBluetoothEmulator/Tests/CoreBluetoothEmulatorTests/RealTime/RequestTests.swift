import CoreBluetooth
import XCTest

@testable import CoreBluetoothEmulator

final class RequestTests: RealTimeTestCase {
    func testAnAnswerWithinTheCallbackCounts() async throws {
        let served = makeCharacteristic()
        server.onRead = { manager, request in
            request.value = Data([0x42])
            manager.respond(to: request, withResult: .success)
        }
        server.onWrite = { manager, requests in manager.respond(to: requests[0], withResult: .init(rawValue: 0x80)!) }
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        peripheral.readValue(for: served)
        peripheral.writeValue(Data([2]), for: served, type: .withResponse)
        try await step()
        XCTAssertEqual(central.updates, [Data([0x42])])
        XCTAssertEqual((central.errors["write"] as? CBATTError)?.code.rawValue, 0x80)
        XCTAssertEqual(served.value, Data([1]))
        withExtendedLifetime((manager, phone)) {}
    }

    func testAnAnswerWithoutAValueHasTheStoredOne() async throws {
        let served = makeCharacteristic()
        server.onRead = { $0.respond(to: $1, withResult: .success) }
        server.onWrite = { $0.respond(to: $1[0], withResult: .success) }
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        peripheral.writeValue(Data([7, 8]), for: served, type: .withResponse)
        peripheral.readValue(for: served)
        try await step()
        XCTAssertEqual(central.updates, [Data([7, 8])])
        withExtendedLifetime((manager, phone)) {}
    }

    func testALateAnswerIsIgnored() async throws {
        let manager = try await advertise(makeCharacteristic())
        let (phone, peripheral) = try await connect()
        let served = try XCTUnwrap(manager.publishedServices.first?.mutableCharacteristics.first)
        peripheral.readValue(for: served)
        try await step()
        server.reads[0].value = Data([9])
        manager.respond(to: server.reads[0], withResult: .success)
        try await step()
        XCTAssertEqual(central.updates, [Data([1])])
        withExtendedLifetime(phone) {}
    }

    func testWhereApplesRuleCountsARequestWaits() async throws {
        await configure { $0.followsApple = true }
        let served = makeCharacteristic()
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        XCTAssertEqual(peripheral.maximumWriteValueLength(for: .withResponse), 512)
        peripheral.readValue(for: served)
        peripheral.writeValue(Data([5]), for: served, type: .withResponse)
        try await step()
        XCTAssertEqual(central.updates, [])
        XCTAssertEqual(server.count("receiveWrite"), 0)
        server.reads[0].value = Data([9])
        manager.respond(to: server.reads[0], withResult: .success)
        try await step()
        XCTAssertEqual(central.updates, [Data([9])])
        manager.respond(to: try XCTUnwrap(server.writes.first?.first), withResult: .success)
        try await step()
        XCTAssertEqual(central.count("write"), 1)
        XCTAssertEqual(served.value, Data([1]))
        withExtendedLifetime(phone) {}
    }

    func testALongValueIsReadAndWrittenWhole() async throws {
        let served = makeCharacteristic(value: nil)
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        let value = Data((0..<500).map { UInt8(truncatingIfNeeded: $0) })
        peripheral.writeValue(value, for: served, type: .withResponse)
        peripheral.readValue(for: served)
        try await step()
        XCTAssertEqual(served.value, value)
        XCTAssertEqual(central.updates, [value])
        XCTAssertEqual(server.writes.first?.map(\.offset), [0, 180, 360])
        XCTAssertEqual(server.reads.map(\.offset), [0, 184, 368])
        XCTAssertEqual(server.reads.first?.central.identifier, phone.identifier)
        XCTAssertTrue(server.reads.first?.characteristic === served)
        withExtendedLifetime(manager) {}
    }

    func testPermissionsAreCheckedBeforeTheCallback() async throws {
        let served = makeCharacteristic([.read, .write], permissions: [])
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        peripheral.readValue(for: served)
        peripheral.writeValue(Data(), for: served, type: .withResponse)
        try await step()
        XCTAssertEqual((central.errors["value"] as? CBATTError)?.code, .readNotPermitted)
        XCTAssertEqual((central.errors["write"] as? CBATTError)?.code, .writeNotPermitted)
        XCTAssertEqual(server.reads.count + server.writes.count, 0)
        withExtendedLifetime((manager, phone)) {}
    }

    func testManyWritesWithoutResponseArriveInOrder() async throws {
        let served = makeCharacteristic()
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        peripheral.readValue(for: served)
        try await step()
        for number in 0..<100 { peripheral.writeValue(Data([UInt8(number)]), for: served, type: .withoutResponse) }
        try await step()
        XCTAssertEqual(server.writes.map { $0[0].value }, (0..<100).map { Data([UInt8($0)]) })
        withExtendedLifetime((manager, phone)) {}
    }

    func testFailuresOfTheConfigurationAreThoseOfTheOperations() async throws {
        let served = makeCharacteristic()
        let manager = try await advertise(served)
        let (phone, peripheral) = try await connect()
        peripheral.readValue(for: served)
        try await step()
        await configure { ($0.simulateReadWriteErrors, $0.readWriteErrorRate) = (true, 1) }
        peripheral.readValue(for: served)
        peripheral.writeValue(Data(), for: served, type: .withResponse)
        try await step()
        XCTAssertEqual((central.errors["value"] as? CBATTError)?.code, .readNotPermitted)
        XCTAssertEqual((central.errors["write"] as? CBATTError)?.code, .writeNotPermitted)
        phone.cancelPeripheralConnection(peripheral)
        try await step()
        await configure { ($0.simulateConnectionFailure, $0.connectionFailureRate) = (true, 1) }
        phone.connect(peripheral)
        try await step()
        XCTAssertEqual((central.errors["failToConnect"] as? CBError)?.code, .connectionFailed)
        withExtendedLifetime(manager) {}
    }
}
