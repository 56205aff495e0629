import BluetoothEmulator
import CoreBluetooth
import Testing

/// The scenarios of AsyncBluetooth and BluetoothProfiles, on the backend that the environment names, like
/// ``ContractTests``.
@Suite(.serialized) struct AsyncContractTests {
    private static let isOnBlueZ = BlueZFixture.isChosen
    private static let bluez = Result { try BlueZFixture() }

    /// The scenarios that the fixture can run; all of them need the contract's peers.
    private static var applicable: [AsyncScenario] {
        let chosen = AsyncScenario.all.filter { BlueZFixture.isSelected($0.name, of: $0.topic) }
        guard isOnBlueZ else { return chosen }
        guard BlueZFixture.peerPath != nil else { return [] }
        let hasPeripheralRole = BlueZFixture.features.contains(.peripheralRole)
        return chosen.filter { hasPeripheralRole || !$0.needsPeripheralRole }
    }

    enum Backend: String, Sendable, CustomTestStringConvertible {
        case emulator
        case emulatorWithoutLatency = "emulator without latency"
        case bluez

        var testDescription: String { rawValue }
        static var all: [Backend] { isOnBlueZ ? [.bluez] : [.emulator, .emulatorWithoutLatency] }
    }

    @Test(arguments: Backend.all, applicable)
    func asyncContract(_ backend: Backend, _ scenario: AsyncScenario) async throws {
        switch backend {
        case .bluez: try await scenario.run(on: Self.bluez.get())
        case .emulator: try await scenario.run(on: EmulatorFixture(seed: 1))
        case .emulatorWithoutLatency: try await scenario.run(on: EmulatorFixture(configuration: .instant, seed: 1))
        }
    }

    @Test func scenariosHaveNamesOfTheirOwn() {
        #expect(Set(AsyncScenario.all.map(\.name)).count == AsyncScenario.all.count)
    }
}
