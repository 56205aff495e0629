import BluetoothEmulator
import CoreBluetooth
import Testing

/// The scenarios of AsyncBluetooth and BluetoothProfiles, on the radio that the environment names, as ``ContractTests``.
@Suite(.serialized) struct AsyncContractTests {
    private static let isOnBlueZ = BlueZFixture.isChosen
    private static let radio = Result { try BlueZFixture() }

    /// What the fixture can play: all of them need the contract's peers.
    private static var applicable: [AsyncScenario] {
        let chosen = AsyncScenario.all.filter { BlueZFixture.isNamed($0.name) }
        guard isOnBlueZ else { return chosen }
        guard BlueZFixture.peerPath != nil else { return [] }
        let hasPeripheralRole = BlueZFixture.features.contains(.peripheralRole)
        return chosen.filter { hasPeripheralRole || !$0.needsPeripheralRole }
    }

    enum Radio: String, Sendable, CustomTestStringConvertible {
        case emulator
        case emulatorWithoutLatency = "emulator without latency"
        case bluez

        var testDescription: String { rawValue }
        static var all: [Radio] { isOnBlueZ ? [.bluez] : [.emulator, .emulatorWithoutLatency] }
    }

    @Test(arguments: Radio.all, applicable)
    func asyncContract(_ radio: Radio, _ scenario: AsyncScenario) async throws {
        switch radio {
        case .bluez: try await scenario.play(on: AsyncFixture(try Self.radio.get()))
        case .emulator: try await scenario.play(on: AsyncFixture(try EmulatorFixture(seed: 1)))
        case .emulatorWithoutLatency:
            try await scenario.play(on: AsyncFixture(try EmulatorFixture(configuration: .instant, seed: 1)))
        }
    }

    @Test func thirtyScenariosOrMoreHaveNamesOfTheirOwn() {
        #expect(AsyncScenario.all.count >= 30)
        #expect(Set(AsyncScenario.all.map(\.name)).count == AsyncScenario.all.count)
    }
}
