#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import Testing

@testable import BlueZ

/// The signal strength of a link, with a fake daemon and a fake controller.
@Suite struct CentralRoleMachineSignalStrengthTests {
    private let operation = OperationID(rawValue: 20)

    @Test func S98_theControllerIsAskedAndAnswers() throws {
        var (fixture, _, link) = CentralRoleFixture.connected()
        fixture.command(.request(link: link, operation: operation, .readRSSI))
        let question = try #require(fixture.strengths.first)
        #expect(question.peer == L2CAPAddress("F0:F1:F2:F3:F4:F5", isRandom: true))
        let address = try #require(L2CAPAddress("00:11:22:33:44:55", isRandom: false))
        #expect(question.controller == ControllerID(index: 0, address: address))
        #expect(fixture.waiting == [])
        fixture.answerStrength(.success(-61))
        #expect(fixture.events == [.response(link: link, operation: operation, .rssi(-61))])
    }

    @Test func aFailureIsTheAnswer() {
        var (fixture, _, link) = CentralRoleFixture.connected()
        fixture.command(.request(link: link, operation: operation, .readRSSI))
        let error = BackendError(.operationNotSupported, operation: "read")
        fixture.answerStrength(.failure(error))
        #expect(fixture.events == [.response(link: link, operation: operation, .failure(error))])
    }

    @Test func S66_itIsReadInTheOrderOfTheOtherOperations() throws {
        var (fixture, peer, link) = CentralRoleFixture.connected()
        let number = fixture.host.links[peer]?.attributes.id(of: CentralRoleFixture.characteristic)
        let attribute = try #require(number)
        fixture.command(.request(link: link, operation: OperationID(rawValue: 21), .read(attribute)))
        fixture.command(.request(link: link, operation: operation, .readRSSI))
        fixture.command(.request(link: link, operation: OperationID(rawValue: 22), .read(attribute)))
        #expect(fixture.strengths.isEmpty)
        fixture.answer("ReadValue", with: .success([.bytes([1])]))
        #expect(fixture.strengths.count == 1)
        #expect(fixture.waiting == [])
        fixture.answerStrength(.success(-61))
        #expect(fixture.waiting == ["ReadValue"])
    }

    @Test func S66_theEndOfTheLinkAnswers() {
        var (fixture, _, link) = CentralRoleFixture.connected()
        fixture.command(.request(link: link, operation: operation, .readRSSI))
        fixture.set(CentralRoleFixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        for timer in fixture.host.outputs.timers { fixture.fire(timer) }
        #expect(fixture.events.contains { if case .disconnected = $0 { true } else { false } })
        fixture.clear()
        fixture.answerStrength(.success(-61))
        #expect(fixture.events.isEmpty)
    }

    @Test func theAnswerOfAnEarlierPowerIsNobodys() {
        var (fixture, _, link) = CentralRoleFixture.connected()
        fixture.command(.request(link: link, operation: operation, .readRSSI))
        fixture.set(CentralRoleFixture.adapter, "org.bluez.Adapter1", ["Powered": .boolean(false)])
        fixture.clear()
        fixture.answerStrength(.success(-61))
        #expect(fixture.events.isEmpty)
    }
}
#endif
