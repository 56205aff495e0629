import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// L2CAP channels under radio histories: bytes arrive in order, or the calls throw.
@Suite struct ChannelHistoriesTests {
    private static let limit = Duration.seconds(120)

    @Test(.emulator(.histories(30, .all, rate: 1)))
    func aChannelReturnsTheBytesInOrderOrThrows() async throws {
        let emulator = Emulator.current
        try emulator.add(RecordingStore.description)
        try await emulator.run(within: .seconds(10_000)) {
            let central = Central(settings: Central.Settings(connectTimeout: .seconds(30)))
            for round in 0..<3 {
                let device = try await central.find(RecordingStore.service)
                do {
                    try await withTimeout(Self.limit) { try await Self.echo(device) }
                } catch let error as BluetoothError {
                    if case .timedOut(Self.limit) = error.reason { Issue.record("neither the bytes nor an end came") }
                }
                await device.disconnect()
                try await Task.sleep(for: .seconds(round))
            }
        }
        #expect(emulator.devices.allSatisfy { $0.connectionCount == 0 })
    }

    /// Sends bytes to a channel that returns them.
    private static func echo(_ device: Peripheral) async throws {
        let channel = try await device.openChannel(0x80)
        let sent = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        async let writing: Void = channel.write(sent)
        var received = Data()
        for try await bytes in channel.bytes {
            received += bytes
            if !sent.starts(with: received) { Issue.record("other bytes came than were sent") }
            if received.count >= sent.count { break }
        }
        try await writing
    }
}
