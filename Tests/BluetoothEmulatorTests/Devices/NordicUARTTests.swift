import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

@Suite struct NordicUARTTests {
    @Test func whatIsWrittenComesBackInPiecesThatFit() async throws {
        let stage = try await DeviceStage(.nordicUART, .slow)
        try await stage.subscribe(NordicUARTHandler.transmit)
        let text = [UInt8]("The quick brown fox jumps over the lazy dog.".utf8)
        let count = stage.stage.events.count
        #expect(try await stage.write(NordicUARTHandler.receive, text) == .written)
        let pieces = try stage.values(NordicUARTHandler.transmit, since: count)
        // The MTU is 23.
        #expect(pieces.map(\.count) == [20, 20, 4])
        #expect(pieces.flatMap { $0 } == text)
    }

    @Test func aClosureAnswersAndATestSends() async throws {
        let line = try EmulatedPeripheral(
            .nordicUART,
            handler: NordicUARTHandler { $0 == Data("AT\r".utf8) ? [Data("OK\r".utf8), Data("READY\r".utf8)] : [] })
        let stage = try await DeviceStage(line)
        try await stage.subscribe(NordicUARTHandler.transmit)
        let receive = try stage.found.characteristic(NordicUARTHandler.receive)
        let count = stage.stage.events.count
        _ = try await stage.stage.run(
            .writeCommand(link: stage.link, attribute: receive, value: Data("AT\r".utf8)),
            .writeCommand(link: stage.link, attribute: receive, value: Data("?".utf8)))
        #expect(
            try stage.values(NordicUARTHandler.transmit, since: count) == ["OK\r", "READY\r"].map { [UInt8]($0.utf8) })
        #expect(stage.device.value(of: CharacteristicPath(NordicUARTHandler.receive)) == Data("?".utf8))
        stage.device.send(Data(repeating: 7, count: 45))
        #expect(try await stage.values(NordicUARTHandler.transmit, for: .seconds(1)).map(\.count) == [20, 20, 5])
    }
}
