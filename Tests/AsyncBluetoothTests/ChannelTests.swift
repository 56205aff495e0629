import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import Foundation
import Testing

/// In real time: streams report on a run loop, which virtual time does not see.
@Suite struct ChannelTests {
    private func connect() async throws -> Peripheral {
        let emulator = Emulator(configuration: .instant)
        var description = PeripheralDescription.gadget
        description.channels = [ChannelDescription(psm: 0x80, echo: true)]
        try emulator.add(description)
        return try await Fixture.first(Central(backend: .emulator(emulator)))
    }

    @Test func bytesComeBackInOrder() async throws {
        let peripheral = try await connect()
        let channel = try await peripheral.openChannel(0x80)
        let sent = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        async let writing: Void = channel.write(sent)
        var received = Data()
        for try await bytes in channel.bytes {
            received += bytes
            if received.count >= sent.count { break }
        }
        try await writing
        #expect(received == sent)
        #expect(channel.peer == peripheral.identifier)
    }

    @Test func aChannelKeepsTheLinkOfItsPeripheral() async throws {
        let emulator = Emulator(configuration: .instant)
        var description = PeripheralDescription.gadget
        description.channels = [ChannelDescription(psm: 0x80, echo: true)]
        let device = try emulator.add(description)
        let central = Central(backend: .emulator(emulator))
        // Nothing but the channel refers to the peripheral.
        let channel = try await Fixture.first(central).openChannel(0x80)
        try await channel.write(Data([1]))
        #expect(try await channel.read() == Data([1]))
        #expect(device.connectionCount == 1)
    }

    @Test func theEndOfTheLinkEndsTheBytesByThrowing() async throws {
        let peripheral = try await connect()
        let channel = try await peripheral.openChannel(0x80)
        let reading = Task { for try await _ in channel.bytes {} }
        await peripheral.disconnect()
        let error = await #expect(throws: BluetoothError.self) { try await reading.value }
        #expect(error?.operation == .channel)
        #expect(error?.peer == peripheral.identifier)
        #expect(error?.path == "PSM 128")
        await #expect(throws: BluetoothError.self) { try await channel.write(Data([1])) }
    }

    @Test func aLinkThatIsLostEndsTheBytesByThrowing() async throws {
        let emulator = Emulator(configuration: .instant)
        var description = PeripheralDescription.gadget
        description.channels = [ChannelDescription(psm: 0x80, echo: true)]
        let device = try emulator.add(description)
        let peripheral = try await Fixture.first(Central(backend: .emulator(emulator)))
        let channel = try await peripheral.openChannel(0x80)
        let reading = Task { for try await _ in channel.bytes {} }
        device.disconnect()
        let error = await #expect(throws: BluetoothError.self) { try await reading.value }
        guard case .disconnected = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func closingEndsWhatWaits() async throws {
        let peripheral = try await connect()
        let channel = try await peripheral.openChannel(0x80)
        let end = Task { try await channel.read() }
        channel.close()
        await #expect(throws: BluetoothError.self) { try await end.value }
    }

    @Test func aServerGetsTheChannelsThatOthersOpen() async throws {
        let emulator = Emulator(configuration: .instant)
        let server = PeripheralServer(backend: .emulator(emulator))
        let psm = try await server.publishChannel()
        try await server.startAdvertising(name: "Server", services: [CBUUID(string: "FFF0")])
        var incoming = server.channels.makeAsyncIterator()
        let peripheral = try await Fixture.first(Central(backend: .emulator(emulator)))
        let near = try await peripheral.openChannel(psm)
        let opened = await incoming.next()
        let far = try #require(opened)
        #expect(far.psm == psm)
        try await near.write(Data("to the server".utf8))
        #expect(try await far.read() == Data("to the server".utf8))
        try await far.write(Data("and back".utf8))
        #expect(try await near.read() == Data("and back".utf8))
        far.close()
        // Closed by the other side while the link is up: the end, and no error.
        #expect(try await near.read() == nil)
        server.unpublishChannel(psm)
        await #expect(throws: BluetoothError.self) { try await peripheral.openChannel(psm) }
    }

    @Test func aChannelThatIsNotThereIsAnError() async throws {
        let peripheral = try await connect()
        await #expect(throws: BluetoothError.self) { try await peripheral.openChannel(0x99) }
        await #expect(throws: BluetoothError.self) { try await peripheral.openChannel(0) }
    }
}
