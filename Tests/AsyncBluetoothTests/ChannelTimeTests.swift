import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import Foundation
import Testing

/// L2CAP channels in virtual time.
@Suite struct ChannelTimeTests {
    @Test func theSameSeedGivesTheSamePiecesInTheSameOrder() async throws {
        var runs: Set<[String]> = []
        for _ in 0..<20 {
            let emulator = Emulator(configuration: .default, time: .virtual, seed: 3)
            try emulator.add(RecordingStore.description)
            let pieces = Log<String>()
            try await emulator.run {
                let device = try await Central().find(RecordingStore.service)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 1...3 {
                        group.addTask {
                            try await Self.echo(3000, device) {
                                pieces.append("\(emulator.now): \(number) \($0.count)")
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(pieces.values.count >= 3)
            runs.insert(pieces.values + emulator.trace.map(\.description))
        }
        #expect(runs.count == 1)
    }

    /// Sends bytes to a channel that returns them, and passes on the pieces.
    private static func echo(_ count: Int, _ device: Peripheral, _ receive: (Data) -> Void) async throws {
        let channel = try await device.openChannel(0x80)
        async let writing: Void = channel.write(Data(count: count))
        var rest = count
        while rest > 0 {
            let bytes = try #require(try await channel.read())
            rest -= bytes.count
            receive(bytes)
        }
        try await writing
    }
}
