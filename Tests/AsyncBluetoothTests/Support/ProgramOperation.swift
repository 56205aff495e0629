import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import Foundation

/// A call of AsyncBluetooth that a random program makes and interrupts.
struct ProgramOperation: Sendable {
    let run: @Sendable (_ party: Party, _ choice: UInt64) async throws -> Void

    /// Each way to wait.
    static let all = client + sequences + server + channels

    private static let client: [ProgramOperation] = [
        .init { party, _ in _ = try await party.peripheral.read("FFF0/FFF1") },
        .init { party, choice in try await party.peripheral.write(byte(choice), to: "FFF0/FFF1") },
        .init { party, choice in
            for _ in 0..<30 { try await party.peripheral.writeWithoutResponse(byte(choice), to: "FFF0/FFF2") }
        },
        .init { party, choice in
            _ = try await party.peripheral.exchange(byte(choice), writingTo: "FFF0/FFF1", notifiedBy: "FFF0/FFF1")
        },
        .init { party, _ in _ = try await party.peripheral.readRSSI() },
        .init { party, _ in _ = try await party.peripheral.services() },
        .init { party, _ in _ = try await party.peripheral.descriptors(of: "FFF0/FFF1") },
        .init { party, _ in _ = try await party.peripheral.read(descriptor: "FFF0/FFF1/2901") },
        .init { party, choice in
            try await party.peripheral.write(byte(choice), toDescriptor: "FFF0/FFF1/2901")
        },
        .init { party, _ in _ = try await party.peripheral.includedServices(of: "FFF0") },
        .init { party, _ in try await party.peripheral.connect() },
        .init { party, _ in await party.peripheral.disconnect() },
        .init { party, _ in try await party.central.waitUntilPoweredOn() },
        .init { party, _ in
            _ = try await party.central.peripheral(identifier: party.peripheral.identifier)
        },
        .init { party, _ in _ = try await party.central.connectedPeripherals(offering: [CBUUID(string: "FFF0")]) },
        .init { party, choice in
            let address = choice % 2 == 0 ? party.address : "C0:FF:EE:C0:FF:EE"
            _ = try await party.central.peripheral(address: address, within: .milliseconds(Int(choice % 5_000)))
        },
        .init { party, choice in
            _ = try await party.central.first(within: .milliseconds(Int(choice % 5_000))) { $0.rssi != nil }
        },
    ]

    private static let sequences: [ProgramOperation] = [
        .init { party, choice in
            let path: CharacteristicID = choice % 2 == 0 ? "FFF0/FFF1" : "FFF0/FFF2"
            for try await _ in party.peripheral.notifications(of: path) where choice % 4 < 2 { break }
        },
        .init { party, _ in try await party.shared.read(party.peripheral) },
        .init { party, _ in try await party.shared.read(party.peripheral) },
        .init { party, choice in
            // Notified while the sequence above may be read, or may have been left.
            party.device.notify("FFF2", value: byte(choice))
        },
        .init { party, choice in
            for try await _ in party.central.scan(allowDuplicates: choice % 2 == 0) where choice % 4 < 2 { break }
        },
        .init { party, _ in
            _ = try await party.central.first(for: [CBUUID(string: "FFF0")], within: .seconds(3_600)) { _ in false }
        },
        .init { party, choice in
            for await state in party.central.states where choice % 2 == 0 && state == .poweredOff { break }
        },
        .init { party, choice in
            let policy = ReconnectionPolicy.backoff(attempts: choice % 2 == 0 ? 3 : nil, seed: choice)
            for await _ in party.peripheral.maintainConnection(policy, clock: party.stage.emulator.swiftClock) {}
        },
    ]

    private static let server: [ProgramOperation] = [
        .init { party, _ in
            let service = ServedService(CBUUID(string: "FFD0"), characteristics: [])
            party.server.remove(try await party.server.add(service))
        },
        .init { party, _ in
            try await party.server.startAdvertising(name: "Program", services: [CBUUID(string: "FFD0")])
        },
        .init { party, choice in try await party.server.notify(byte(choice), of: "FFE0/FFE1") },
        .init { party, choice in
            let psm = try await party.server.publishChannel(isEncryptionRequired: choice % 2 == 0)
            party.server.unpublishChannel(psm)
        },
        .init { party, _ in for await _ in party.server.subscriptions {} },
        .init { party, _ in try await party.server.waitUntilPoweredOn() },
        .init { party, _ in try await party.server.run() },
        .init { party, _ in try await party.server.run() },
    ]

    /// Streams tell on a thread that virtual time does not wait for: how far these get depends on that thread.
    private static let channels: [ProgramOperation] = [
        .init { party, choice in
            let channel = try await party.peripheral.openChannel(0x80)
            try await channel.write(Data(count: Int(choice % 100_000)))
            _ = try await channel.read()
            if choice % 2 == 0 { channel.close() }
        },
        .init { party, choice in
            try await party.channel.use(party.peripheral) { try await $0.write(Data(count: Int(choice % 100_000))) }
        },
        .init { party, choice in
            try await party.channel.use(party.peripheral) { _ = try await $0.read(upTo: Int(choice % 1_000)) }
        },
        .init { party, choice in
            try await party.channel.use(party.peripheral) { channel in
                for try await _ in channel.bytes where choice % 2 == 0 { break }
            }
        },
        .init { party, choice in
            try await party.channel.use(party.peripheral) { if choice % 2 == 0 { $0.close() } }
            if choice % 4 < 2 { party.channel.drop() }
        },
        .init { party, choice in
            for await channel in party.server.channels {
                guard let bytes = try await channel.read() else { continue }
                try await channel.write(bytes)
                if choice % 2 == 0 { break }
            }
        },
        .init { party, choice in
            let psm = try await party.server.publishChannel()
            defer { party.server.unpublishChannel(psm) }
            try await party.server.startAdvertising(name: "Program", services: [CBUUID(string: "FFD0")])
            let found = try await party.central.first(for: [CBUUID(string: "FFD0")], within: .seconds(20))
            let channel = try await found.peripheral.openChannel(psm)
            try await channel.write(byte(choice))
            _ = try await channel.read()
        },
    ]

    private static func byte(_ choice: UInt64) -> Data { Data([UInt8(truncatingIfNeeded: choice)]) }
}
