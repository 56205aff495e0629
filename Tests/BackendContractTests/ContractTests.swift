import BluetoothBackend
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

    /// The radios on which each scenario plays.
    ///
    /// Latency is no part of the contract, and wrappers that do nothing change nothing.
    enum Radio: String, Sendable, CustomTestStringConvertible {
        case emulator
        case emulatorWithoutLatency = "emulator without latency"
        case wrappedEmulator = "emulator in wrappers"
        case bluez

        var testDescription: String { rawValue }
        static var all: [Radio] { isOnBlueZ ? [.bluez] : [.emulator, .emulatorWithoutLatency, .wrappedEmulator] }
    }

    @Test(arguments: Radio.all, applicable) func contract(_ radio: Radio, _ scenario: ContractScenario) async throws {
        switch radio {
        case .bluez: try await play(scenario, on: Self.radio.get())
        case .emulator: try await play(scenario, on: EmulatorStage(seed: 1))
        case .emulatorWithoutLatency: try await play(scenario, on: EmulatorStage(configuration: .instant, seed: 1))
        case .wrappedEmulator:
            let stage = try EmulatorStage(seed: 1) { emulator in
                let traced = TracingBackend(around: emulator, to: .memory)
                return try FaultInjectingBackend(around: traced, plan: FaultPlan(faults: []))
            }
            try await play(scenario, on: stage)
        }
    }

    private func play(_ scenario: ContractScenario, on stage: EmulatorStage) async throws {
        do {
            try await play(scenario, on: stage as any ContractStage)
        } catch {
            Issue.record("seed 1: \(error)\n\(stage.worldTrace.suffix(60).joined(separator: "\n"))")
        }
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
