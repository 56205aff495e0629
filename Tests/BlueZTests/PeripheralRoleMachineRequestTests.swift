#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

/// Reads and writes of centrals, on the role machine alone.
@Suite struct PeripheralRoleMachineRequestTests {
    private let one = PeripheralRoleFixture.one
    private let two = PeripheralRoleFixture.two

    private func id(_ number: UInt32) -> AttributeID { AttributeID(rawValue: number) }

    private func respond(_ fixture: inout PeripheralRoleFixture, _ code: UInt8 = 0, _ value: [UInt8]? = nil) throws {
        let request = try #require(fixture.request)
        fixture.command(.respond(request: request, attCode: code, value: value.map { Data($0) }))
    }

    // MARK: Reads

    @Test func aStaticValueIsServedFromItsOffsetWithoutTheManager() {
        var fixture = PeripheralRoleFixture.serving()
        let whole = fixture.read(3, by: one)
        let rest = fixture.read(3, by: one, offset: 4)
        let end = fixture.read(3, by: one, offset: 6)
        let beyond = fixture.read(3, by: one, offset: 7)
        #expect(fixture.answers[whole] == .success([.bytes(Array("static".utf8))]))
        #expect(fixture.answers[rest] == .success([.bytes(Array("ic".utf8))]))
        #expect(fixture.answers[end] == .success([.bytes([])]))
        #expect(fixture.answers[beyond]?.failure?.name == "org.bluez.Error.InvalidOffset")
        #expect(fixture.events.isEmpty)
    }

    @Test func aStaticValueWithoutPermissionToReadIsTheManagersToRefuse() throws {
        var fixture = PeripheralRoleFixture.serving()
        let hidden = ServiceDefinition.Characteristic(
            id: id(21), uuid: "2A38", properties: .read, permissions: [], staticValue: Data([1]))
        let service = ServiceDefinition(id: id(20), uuid: "180D", included: [], characteristics: [hidden])
        fixture.command(.addService(operation: OperationID(rawValue: 2), service: service))
        fixture.answer("RegisterApplication")
        fixture.clear()
        let number = fixture.read(21, by: one)
        #expect(fixture.answers[number] == nil)
        try respond(&fixture, 2)
        #expect(fixture.answers[number]?.failure?.name == "org.bluez.Error.NotPermitted")
    }

    @Test func aDescriptorIsServedWithoutTheManager() {
        var fixture = PeripheralRoleFixture.serving()
        let number = fixture.call(fixture.path(7), "ReadValue", [PeripheralRoleFixture.options(one)])
        #expect(fixture.answers[number] == .success([.bytes(Array("text".utf8))]))
    }

    @Test func aReadAsksTheManagerAndWaitsForItsAnswer() throws {
        var fixture = PeripheralRoleFixture.serving()
        let number = fixture.read(2, by: one, offset: 3, mtu: 247)
        let request = try #require(fixture.request)
        #expect(
            fixture.events == [
                .readRequested(
                    request: request, central: fixture.peer(one), attribute: id(2), offset: 3, mtu: 247)
            ])
        #expect(fixture.answers[number] == nil)
        #expect(fixture.timers == [.request(request)])
        try respond(&fixture, 0, [1, 2])
        #expect(fixture.answers[number] == .success([.bytes([1, 2])]))
        #expect(fixture.timers.isEmpty)
        // A second answer has no request.
        try respond(&fixture, 0, [3])
        #expect(fixture.answers[number] == .success([.bytes([1, 2])]))
    }

    @Test func twoCentralsAreDistinguishedAndAnsweredInAnyOrder() {
        var fixture = PeripheralRoleFixture.serving()
        let (first, second) = (fixture.read(2, by: one), fixture.read(2, by: two))
        let requests = fixture.events.compactMap { event -> (RequestID, PeerID)? in
            if case .readRequested(let id, let central, _, _, _) = event { (id, central) } else { nil }
        }
        #expect(requests.map(\.1) == [fixture.peer(one), fixture.peer(two)])
        fixture.command(.respond(request: requests[1].0, attCode: 0, value: Data([2])))
        fixture.command(.respond(request: requests[0].0, attCode: 0, value: Data([1])))
        #expect(fixture.answers[first] == .success([.bytes([1])]))
        #expect(fixture.answers[second] == .success([.bytes([2])]))
    }

    @Test(arguments: [
        (UInt8(0x02), "NotPermitted", nil as String?), (0x03, "NotPermitted", nil), (0x06, "NotSupported", nil),
        (0x07, "InvalidOffset", nil), (0x08, "NotAuthorized", nil), (0x0D, "InvalidValueLength", nil),
        (0x80, "Failed", "0x80"), (0x9F, "Failed", "0x9f"), (0xFD, "ImproperlyConfigured", nil),
        (0xFE, "InProgress", nil), (0x0E, "UnlikelyError", nil), (0xFC, "UnlikelyError", nil),
    ])
    func anErrorCodeIsTheDaemonsError(code: UInt8, name: String, text: String?) throws {
        var fixture = PeripheralRoleFixture.serving()
        let number = fixture.read(2, by: one)
        try respond(&fixture, code)
        let error = fixture.answers[number]?.failure
        #expect(error?.name == "org.bluez.Error." + name)
        if let text { #expect(error?.message == text) }
    }

    @Test func aManagerDoesNotAnswerForAnother() throws {
        var fixture = PeripheralRoleFixture.serving()
        fixture.input(.activated(2))
        let number = fixture.read(2, by: one)
        let request = try #require(fixture.request)
        fixture.command(.respond(request: request, attCode: 0, value: Data()), from: 2)
        #expect(fixture.answers[number] == nil)
    }

    // MARK: Writes

    @Test func aWriteIsOneRequestOfOnePart() throws {
        var fixture = PeripheralRoleFixture.serving()
        let number = fixture.write(2, [5, 6], by: one, ["offset": .uint16(2)])
        let request = try #require(fixture.request)
        #expect(
            fixture.events == [
                .writeRequested(
                    request: request, central: fixture.peer(one), mtu: 185, wantsResponse: true,
                    parts: [WritePart(attribute: id(2), offset: 2, value: Data([5, 6]))])
            ])
        try respond(&fixture, 0x0D)
        #expect(fixture.answers[number]?.failure?.name == "org.bluez.Error.InvalidValueLength")
    }

    @Test func aWriteThatTheDaemonAcknowledgesIsAnsweredAtOnce() throws {
        var fixture = PeripheralRoleFixture.serving()
        let number = fixture.write(5, [1], by: one)
        #expect(fixture.answers[number] == .success([]))
        guard case .writeRequested(_, _, _, let wantsResponse, _)? = fixture.events.first else {
            Issue.record("no request")
            return
        }
        #expect(!wantsResponse)
        #expect(fixture.timers.isEmpty)
        try respond(&fixture, 0x03)
        #expect(fixture.answers[number] == .success([]))
    }

    @Test func theQuestionWhetherAPreparedWriteMayComeIsAnsweredHere() {
        var fixture = PeripheralRoleFixture.serving()
        let number = fixture.write(2, [], by: one, ["prepare-authorize": .boolean(true)])
        #expect(fixture.answers[number] == .success([]))
        #expect(fixture.events.isEmpty)
    }

    // MARK: The end of a request

    @Test func aRequestExpiresAfterFiveSecondsAndTheLogNamesTheCharacteristic() throws {
        var fixture = PeripheralRoleFixture.serving()
        let number = fixture.read(2, by: one)
        let request = try #require(fixture.request)
        #expect(fixture.host.timings.request == .seconds(5))
        fixture.fire(.request(request))
        #expect(fixture.events.last == .requestExpired(request: request))
        #expect(fixture.answers[number]?.failure != nil)
        #expect(fixture.warnings.first?.contains("1001") == true)
        fixture.command(.respond(request: request, attCode: 0, value: Data([1])))
        #expect(fixture.answers[number]?.failure != nil)
    }

    @Test func aRequestEndsWithItsCentral() throws {
        var fixture = PeripheralRoleFixture.serving()
        let number = fixture.read(2, by: one)
        let request = try #require(fixture.request)
        fixture.setConnected(one, false)
        fixture.settle()
        #expect(fixture.events.last == .requestExpired(request: request))
        #expect(fixture.answers[number]?.failure != nil)
    }

    @Test func aRequestEndsWithThePowerInSilence() {
        var fixture = PeripheralRoleFixture.serving()
        let number = fixture.read(2, by: one)
        fixture.clear()
        fixture.setConnected(one, false)
        fixture.setPowered(false)
        fixture.settle()
        #expect(fixture.events == [.stateChanged(.poweredOff)])
        #expect(fixture.answers[number]?.failure != nil)
        #expect(fixture.timers.isEmpty)
    }

    @Test func aRequestEndsWithItsService() throws {
        var fixture = PeripheralRoleFixture.serving()
        let number = fixture.read(2, by: one)
        let request = try #require(fixture.request)
        fixture.command(.removeService(id(1)))
        #expect(fixture.events.last == .requestExpired(request: request))
        #expect(fixture.answers[number]?.failure != nil)
    }

    @Test func aCallWithoutACentralOfThisAdapterIsRefused() {
        var fixture = PeripheralRoleFixture.serving()
        let foreign = CentralRoleFixture.path("/org/bluez/hci1/dev_00_00_00_00_00_01")
        for options in [PeripheralRoleFixture.options(foreign), .properties([:]), .string("x")] {
            let read = fixture.call(fixture.path(2), "ReadValue", [options])
            let write = fixture.call(fixture.path(2), "WriteValue", [.bytes([1]), options])
            #expect(fixture.answers[read]?.failure != nil)
            #expect(fixture.answers[write]?.failure != nil)
        }
        let malformed = fixture.call(fixture.path(2), "WriteValue", [.byte(1)])
        #expect(fixture.answers[malformed]?.failure != nil)
        #expect(fixture.events.isEmpty)
    }

    @Test func aCentralWhoseSignalIsStillToComeIsKnownByItsPath() {
        var fixture = PeripheralRoleFixture.serving()
        let early = CentralRoleFixture.path("/org/bluez/hci0/dev_F0_F1_F2_F3_F4_09")
        fixture.read(2, by: early)
        let before = fixture.peer(early)
        fixture.connect(early)
        fixture.read(2, by: early)
        let centrals = fixture.events.compactMap { event -> PeerID? in
            if case .readRequested(_, let central, _, _, _) = event { central } else { nil }
        }
        #expect(centrals == [before, before])
    }
}
#endif
