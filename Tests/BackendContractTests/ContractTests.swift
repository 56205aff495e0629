import BluetoothEmulator
import CoreBluetooth
import Testing

/// The definition of "same behaviour": every scenario, on the radio that the environment names.
///
/// `CONTRACT_BACKEND=bluez` plays on a real radio, with the contract peer at `CONTRACT_PEER_SOCKET`; without it the
/// emulator is the stage.
@Suite(.serialized) struct ContractTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isOnBlueZ = environment["CONTRACT_BACKEND"] == "bluez"
    private static let radio = Result {
        try BlueZStage(
            version: environment["CONTRACT_BLUEZ_VERSION"] ?? "unknown",
            socketPath: environment["CONTRACT_PEER_SOCKET"])
    }

    /// With a foreign peripheral only the generic scenarios apply.
    private static var applicable: [ContractScenario] {
        guard isOnBlueZ, environment["CONTRACT_PEER_SOCKET"] == nil else { return ContractScenario.all }
        return ContractScenario.all.filter(\.isGeneric)
    }

    @Test(arguments: applicable) func contract(_ scenario: ContractScenario) async throws {
        if Self.isOnBlueZ {
            try await play(scenario, on: Self.radio.get())
        } else {
            let stage = try EmulatorStage(seed: 1)
            do {
                try await play(scenario, on: stage)
            } catch {
                Issue.record("\(error)\n\(stage.worldTrace.suffix(60).joined(separator: "\n"))")
            }
        }
    }

    /// Latency is no part of the contract.
    @Test(.enabled(if: !isOnBlueZ), arguments: ContractScenario.all)
    func contractWithoutLatency(_ scenario: ContractScenario) async throws {
        try await play(scenario, on: EmulatorStage(configuration: .instant, seed: 2))
    }

    private func play(_ scenario: ContractScenario, on stage: any ContractStage) async throws {
        try await stage.begin()
        let context = ContractContext(
            stage, scenario: scenario.name, differences: ContractDifference.lines(for: scenario.name, on: stage.name))
        try await scenario.body(context)
        context.finish()
    }

    @Test func theTableOfDifferencesNamesScenariosThatExist() {
        let names = Set(ContractScenario.all.map(\.name))
        #expect(ContractDifference.all.allSatisfy { names.contains($0.scenario) })
        #expect(names.count == ContractScenario.all.count, "names are unique")
        #expect(names.count >= 40)
    }
}
