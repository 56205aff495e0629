import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import Foundation
import Testing

/// In real time: streams tell on a run loop, which virtual time does not see.
@Suite struct ChannelTests {
    private func connect() async throws -> Peripheral {
        let emulator = Emulator(configuration: .instant)
        var description = PeripheralDescription.gadget
        description.channels = [ChannelDescription(psm: 0x80, echo: true)]
        try emulator.add(description)
        return try await Stage.first(Central(backend: .emulator(emulator)))
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

    @Test func theEndOfTheLinkIsTheEndOfTheBytes() async throws {
        let peripheral = try await connect()
        let channel = try await peripheral.openChannel(0x80)
        async let ending = channel.read()
        await peripheral.disconnect()
        let end = try await ending
        #expect(end == nil)
        await #expect(throws: BluetoothError.self) { try await channel.write(Data([1])) }
    }

    @Test func closingEndsWhatWaits() async throws {
        let peripheral = try await connect()
        let channel = try await peripheral.openChannel(0x80)
        let end = Task { try await channel.read() }
        channel.close()
        await #expect(throws: BluetoothError.self) { try await end.value }
    }

    @Test func aChannelThatIsNotThereIsAnError() async throws {
        let peripheral = try await connect()
        await #expect(throws: BluetoothError.self) { try await peripheral.openChannel(0x99) }
        await #expect(throws: BluetoothError.self) { try await peripheral.openChannel(0) }
    }
}
