import CoreBluetooth
import CoreBluetoothEmulator
import Foundation
import Testing

@Suite struct TransportTests {
    @Test func `bytes go from one end of a hub to another`() async throws {
        let (peripheral, central, hub) = InMemoryEmulatorTransport.createTestPair()
        await peripheral.start()
        await central.start()
        try await central.send(Data([1, 2]), to: peripheral.processID)
        try await central.send(Data([3]), to: peripheral.processID)
        var received: [Data] = []
        for await (sender, data) in peripheral.receive() {
            #expect(sender == central.processID)
            received.append(data)
            if received.count == 2 { break }
        }
        #expect(received == [Data([1, 2]), Data([3])])
        let third = InMemoryEmulatorTransport(hub: hub)
        await third.start()
        try await peripheral.send(Data([4]), to: third.processID)
        await third.cleanup()
        var rest: [Data] = []
        for await (_, data) in third.receive() { rest.append(data) }
        #expect(rest == [Data([4])])
        await #expect(throws: InMemoryTransportError.self) {
            try await peripheral.send(Data(), to: third.processID)
        }
    }

    @Test func `values of advertisements survive encoding`() throws {
        let uuid = CBUUID(string: "180D")
        let data: [String: Any] = [
            "text": "a", "bytes": Data([1]), "number": NSNumber(value: -4), "flag": NSNumber(value: true),
            "uuids": [uuid], "service": [uuid: Data([2])], "nested": ["x": [1, 2]], "unknown": NSObject(),
        ]
        let codable = data.toCodable()
        #expect(codable["unknown"] == nil)
        let decoded = try JSONDecoder().decode([String: CodableValue].self, from: JSONEncoder().encode(codable))
        #expect(decoded == codable)
        let values = decoded.toAny()
        #expect(values["text"] as? String == "a")
        #expect(values["bytes"] as? Data == Data([1]))
        #expect((values["number"] as? NSNumber)?.intValue == -4)
        #expect((values["flag"] as? NSNumber)?.boolValue == true)
        #expect(decoded["flag"] == .bool(true))
        #expect(values["uuids"] as? [CBUUID] == [uuid])
        #expect(values["service"] as? [CBUUID: Data] == [uuid: Data([2])])
        #expect(values["nested"] as? [String: [NSNumber]] == ["x": [1, 2]])
    }

    @Test func `a value is an object of type and value`() throws {
        let json = #"{"type":"uuid","value":"GA0="}"#
        let value = try JSONDecoder().decode(CodableValue.self, from: Data(json.utf8))
        #expect(value.anyValue as? CBUUID == CBUUID(string: "180D"))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(CodableValue.self, from: Data(#"{"type":"uuid","value":"GA=="}"#.utf8))
        }
    }

    @Test func `an event concerns its central, or else its peripheral`() throws {
        let (central, peripheral) = (UUID(), UUID())
        let events: [(EmulatorInternalEvent, UUID)] = [
            (.mtuNegotiated(centralID: central, peripheralID: peripheral, mtu: 185), central),
            (.notificationSent(peripheralID: peripheral, characteristicUUID: Data([1, 2]), value: Data()), peripheral),
            (.advertisingStarted(peripheralID: peripheral, advertisementData: ["a": .bool(true)]), peripheral),
            (
                .readResponse(
                    centralID: central, peripheralID: peripheral, characteristicUUID: Data(), value: nil, error: "e"),
                central
            ),
        ]
        for (event, target) in events {
            let decoded = try JSONDecoder().decode(EmulatorInternalEvent.self, from: JSONEncoder().encode(event))
            #expect(decoded.targetID == target)
        }
    }

    @Test func `a distributed world is refused`() async {
        let transport = InMemoryEmulatorTransport.createTestPair().central
        await EmulatorBus.shared.configure(transport: .distributed(transport))
        await EmulatorBus.shared.configure(transport: .inProcess)
        let configuration = EmulatorTransportConfiguration(role: .both)
        #expect(configuration.hubEndpoint == nil)
        #expect(configuration.role.rawValue == "both")
    }
}
