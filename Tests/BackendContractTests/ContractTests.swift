import BluetoothBackend
import BluetoothEmulator
import BluetoothInstrumentation
import CoreBluetooth
import Testing

/// The definition of "same behaviour": every scenario, on the radio that the environment names.
///
/// `CONTRACT_BACKEND=bluez` plays on a real radio, with the contract peer at `CONTRACT_PEER_SOCKET`; without it the
/// emulator is the fixture. `CONTRACT_NEEDS` plays only the scenarios that need one of these features, by their raw
/// values between commas, proved or not. `CONTRACT_SCENARIO` plays only those whose names contain it.
@Suite(.serialized) struct ContractTests {
    private static let isOnBlueZ = BlueZFixture.isChosen
    private static let radio = Result { try BlueZFixture() }

    /// What the fixture can play; with a foreign peripheral only the generic scenarios.
    private static var applicable: [ContractScenario] {
        let features = isOnBlueZ ? BlueZFixture.features : EmulatorFixture.features
        let possible = ContractScenario.all.filter {
            $0.needs.isSubset(of: features) && BlueZFixture.isNamed($0.name)
        }
        guard isOnBlueZ else { return possible }
        return possible.filter { scenario in
            scenario.isExpressibleOnBlueZ && (scenario.isGeneric || BlueZFixture.peerPath != nil)
                && (BlueZFixture.wanted.isEmpty || !scenario.needs.isDisjoint(with: BlueZFixture.wanted))
        }
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
        case .emulator: try await play(scenario, on: EmulatorFixture(seed: 1))
        case .emulatorWithoutLatency: try await play(scenario, on: EmulatorFixture(configuration: .instant, seed: 1))
        case .wrappedEmulator:
            let fixture = try EmulatorFixture(seed: 1) { emulator in
                let traced = TracingBackend(around: emulator, to: .memory)
                return try FaultInjectingBackend(around: traced, plan: FaultPlan(faults: []))
            }
            try await play(scenario, on: fixture)
        }
    }

    private func play(_ scenario: ContractScenario, on fixture: EmulatorFixture) async throws {
        do {
            try await play(scenario, on: fixture as any ContractFixture)
        } catch {
            Issue.record("seed 1: \(error)\n\(fixture.worldTrace.suffix(60).joined(separator: "\n"))")
        }
    }

    private func play(_ scenario: ContractScenario, on fixture: any ContractFixture) async throws {
        try await fixture.begin()
        try await scenario.play(on: fixture)
    }

    @Test func whatThisFixtureDoesNotPlayIsCountedByReason() {
        let played = Set(Self.applicable.map(\.name))
        var counts: [String: Int] = [:]
        for scenario in ContractScenario.all where !played.contains(scenario.name) {
            let needs = scenario.needs.map(\.rawValue).sorted().joined(separator: ", ")
            let reason = scenario.emulatorOnly.map { "never, since \($0)" } ?? (needs.isEmpty ? "" : "later: \(needs)")
            counts[reason.isEmpty ? "only with the contract's peer" : reason, default: 0] += 1
        }
        #expect(Self.isOnBlueZ || counts.isEmpty)
        print("contract: \(played.count) of \(ContractScenario.all.count) scenarios")
        for (reason, count) in counts.sorted(by: { $0.key < $1.key }) { print("contract: \(count) \(reason)") }
    }

    @Test func theTableOfDifferencesNamesScenariosThatExist() {
        let names = Set(ContractScenario.all.map(\.name))
        #expect(ContractDifference.all.allSatisfy { names.contains($0.scenario) })
        #expect(names.count == ContractScenario.all.count, "names are unique")
        #expect(names.count >= 95)
    }
}
