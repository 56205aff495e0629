import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@Suite struct NordicUARTTests {
    @Test func whatIsWrittenComesBackInPiecesThatFit() async throws {
        let fixture = try await DeviceFixture(.nordicUART, .slow)
        try await fixture.subscribe(NordicUARTHandler.transmit)
        let text = [UInt8]("The quick brown fox jumps over the lazy dog.".utf8)
        let count = fixture.fixture.events.count
        #expect(try await fixture.write(NordicUARTHandler.receive, text) == .written)
        let pieces = try fixture.values(NordicUARTHandler.transmit, since: count)
        // The MTU is 23.
        #expect(pieces.map(\.count) == [20, 20, 4])
        #expect(pieces.flatMap { $0 } == text)
    }

    @Test func aClosureAnswersAndATestSends() async throws {
        let line = try EmulatedPeripheral(
            .nordicUART,
            handler: NordicUARTHandler { $0 == Data("AT\r".utf8) ? [Data("OK\r".utf8), Data("READY\r".utf8)] : [] })
        let fixture = try await DeviceFixture(line)
        try await fixture.subscribe(NordicUARTHandler.transmit)
        let receive = try fixture.found.characteristic(NordicUARTHandler.receive)
        let count = fixture.fixture.events.count
        _ = try await fixture.fixture.run(
            .writeCommand(link: fixture.link, attribute: receive, value: Data("AT\r".utf8)),
            .writeCommand(link: fixture.link, attribute: receive, value: Data("?".utf8)))
        #expect(
            try fixture.values(NordicUARTHandler.transmit, since: count)
                == ["OK\r", "READY\r"].map { [UInt8]($0.utf8) })
        #expect(fixture.device.value(of: CharacteristicPath(NordicUARTHandler.receive)) == Data("?".utf8))
        try #require(EmulatedNordicUART(fixture.device)).send(Data(repeating: 7, count: 45))
        #expect(try await fixture.values(NordicUARTHandler.transmit, for: .seconds(1)).map(\.count) == [20, 20, 5])
    }
}
