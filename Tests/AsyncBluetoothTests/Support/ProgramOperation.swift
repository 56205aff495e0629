import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import Foundation

/// A call of AsyncBluetooth that a random program makes and interrupts.
struct ProgramOperation: Sendable {
    let run: @Sendable (_ participants: Participants, _ choice: UInt64) async throws -> Void

    /// The operations, which include every kind of wait.
    static let all = client + sequences + server + channels

    private static let client: [ProgramOperation] = [
        .init { participants, _ in _ = try await participants.peripheral.read("FFF0/FFF1") },
        .init { participants, choice in try await participants.peripheral.write(byte(choice), to: "FFF0/FFF1") },
        .init { participants, choice in
            for _ in 0..<30 { try await participants.peripheral.writeWithoutResponse(byte(choice), to: "FFF0/FFF2") }
        },
        .init { participants, choice in
            _ = try await participants.peripheral.exchange(
                byte(choice), writingTo: "FFF0/FFF1", notifiedBy: "FFF0/FFF1")
        },
        .init { participants, _ in _ = try await participants.peripheral.readRSSI() },
        .init { participants, _ in _ = try await participants.peripheral.services() },
        .init { participants, _ in _ = try await participants.peripheral.descriptors(of: "FFF0/FFF1") },
        .init { participants, _ in _ = try await participants.peripheral.read(descriptor: "FFF0/FFF1/2901") },
        .init { participants, choice in
            try await participants.peripheral.write(byte(choice), toDescriptor: "FFF0/FFF1/2901")
        },
        .init { participants, _ in _ = try await participants.peripheral.includedServices(of: "FFF0") },
        .init { participants, _ in try await participants.peripheral.connect() },
        .init { participants, _ in await participants.peripheral.disconnect() },
        .init { participants, _ in try await participants.central.waitUntilPoweredOn() },
        .init { participants, _ in
            _ = try await participants.central.peripheral(identifier: participants.peripheral.identifier)
        },
        .init { participants, _ in
            _ = try await participants.central.connectedPeripherals(offering: [CBUUID(string: "FFF0")])
        },
        .init { participants, choice in
            let address = choice % 2 == 0 ? participants.address : "C0:FF:EE:C0:FF:EE"
            _ = try await participants.central.peripheral(address: address, within: .milliseconds(Int(choice % 5_000)))
        },
        .init { participants, choice in
            _ = try await participants.central.first(within: .milliseconds(Int(choice % 5_000))) { $0.rssi != nil }
        },
    ]

    private static let sequences: [ProgramOperation] = [
        .init { participants, choice in
            let path: CharacteristicID = choice % 2 == 0 ? "FFF0/FFF1" : "FFF0/FFF2"
            for try await _ in participants.peripheral.notifications(of: path) where choice % 4 < 2 { break }
        },
        .init { participants, _ in try await participants.shared.read(participants.peripheral) },
        .init { participants, _ in try await participants.shared.read(participants.peripheral) },
        .init { participants, choice in
            // The notification is sent while the sequence above may be read, or may have been left.
            participants.device.notify("FFF2", value: byte(choice))
        },
        .init { participants, choice in
            for try await _ in participants.central.scan(allowDuplicates: choice % 2 == 0) where choice % 4 < 2 {
                break
            }
        },
        .init { participants, _ in
            _ = try await participants.central.first(for: [CBUUID(string: "FFF0")], within: .seconds(3_600)) { _ in
                false
            }
        },
        .init { participants, choice in
            for await state in participants.central.states where choice % 2 == 0 && state == .poweredOff { break }
        },
        .init { participants, choice in
            let policy = ReconnectionPolicy.backoff(attempts: choice % 2 == 0 ? 3 : nil, seed: choice)
            for await _ in participants.peripheral.maintainConnection(
                policy, clock: participants.fixture.emulator.swiftClock)
            {}
        },
    ]

    private static let server: [ProgramOperation] = [
        .init { participants, _ in
            let service = ServedService(CBUUID(string: "FFD0"), characteristics: [])
            participants.server.remove(try await participants.server.add(service))
        },
        .init { participants, _ in
            try await participants.server.startAdvertising(name: "Program", services: [CBUUID(string: "FFD0")])
        },
        .init { participants, choice in try await participants.server.notify(byte(choice), of: "FFE0/FFE1") },
        .init { participants, choice in
            let psm = try await participants.server.publishChannel(isEncryptionRequired: choice % 2 == 0)
            participants.server.unpublishChannel(psm)
        },
        .init { participants, _ in for await _ in participants.server.subscriptions {} },
        .init { participants, _ in try await participants.server.waitUntilPoweredOn() },
        .init { participants, _ in try await participants.server.run() },
        .init { participants, _ in try await participants.server.run() },
    ]

    /// The channel operations.
    private static let channels: [ProgramOperation] = [
        .init { participants, choice in
            let channel = try await participants.peripheral.openChannel(0x80)
            try await channel.write(Data(count: Int(choice % 100_000)))
            _ = try await channel.read()
            if choice % 2 == 0 { channel.close() }
        },
        .init { participants, choice in
            try await participants.channel.use(participants.peripheral) {
                try await $0.write(Data(count: Int(choice % 100_000)))
            }
        },
        .init { participants, choice in
            try await participants.channel.use(participants.peripheral) {
                _ = try await $0.read(upTo: Int(choice % 1_000))
            }
        },
        .init { participants, choice in
            try await participants.channel.use(participants.peripheral) { channel in
                for try await _ in channel.bytes where choice % 2 == 0 { break }
            }
        },
        .init { participants, choice in
            try await participants.channel.use(participants.peripheral) { if choice % 2 == 0 { $0.close() } }
            if choice % 4 < 2 { participants.channel.drop() }
        },
        .init { participants, choice in
            for await channel in participants.server.channels {
                guard let bytes = try await channel.read() else { continue }
                try await channel.write(bytes)
                if choice % 2 == 0 { break }
            }
        },
        .init { participants, choice in
            let psm = try await participants.server.publishChannel()
            defer { participants.server.unpublishChannel(psm) }
            try await participants.server.startAdvertising(name: "Program", services: [CBUUID(string: "FFD0")])
            let found = try await participants.central.first(for: [CBUUID(string: "FFD0")], within: .seconds(20))
            let channel = try await found.peripheral.openChannel(psm)
            try await channel.write(byte(choice))
            _ = try await channel.read()
        },
    ]

    private static func byte(_ choice: UInt64) -> Data { Data([UInt8(truncatingIfNeeded: choice)]) }
}
