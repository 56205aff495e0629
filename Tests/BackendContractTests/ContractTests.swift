import BluetoothBackend
import BluetoothEmulator
import BluetoothInstrumentation
import CoreBluetooth
import Testing

/// The definition of "same behavior": every scenario, on the backend that the environment names.
///
/// `CONTRACT_BACKEND=bluez` runs them on BlueZ, with the contract's peer at `CONTRACT_PEER_SOCKET`; without it the
/// emulator is the fixture. `CONTRACT_NEEDS` runs only the scenarios that need one of these features, given as
/// comma-separated raw values. `CONTRACT_SCENARIO` runs only those whose name contains the value, or whose topic it is.
@Suite(.serialized) struct ContractTests {
    private static let isOnBlueZ = BlueZFixture.isChosen
    private static let bluez = Result { try BlueZFixture() }

    /// The scenarios that the fixture can run; with a foreign peripheral only the generic ones.
    private static var applicable: [ContractScenario] {
        let features = isOnBlueZ ? BlueZFixture.features : EmulatorFixture.features
        let possible = ContractScenario.all.filter {
            $0.needs.isSubset(of: features) && BlueZFixture.isSelected($0.name, of: $0.topic)
        }
        guard isOnBlueZ else { return possible }
        return possible.filter { scenario in
            scenario.emulatorOnly == nil && (scenario.isGeneric || BlueZFixture.peerPath != nil)
                && (BlueZFixture.wanted.isEmpty || !scenario.needs.isDisjoint(with: BlueZFixture.wanted))
        }
    }

    /// The backends on which each scenario runs.
    ///
    /// Latency is not part of the contract, and wrappers without faults change nothing.
    enum Backend: String, Sendable, CustomTestStringConvertible {
        case emulator
        case emulatorWithoutLatency = "emulator without latency"
        case wrappedEmulator = "emulator in wrappers"
        case bluez

        var testDescription: String { rawValue }
        static var all: [Backend] { isOnBlueZ ? [.bluez] : [.emulator, .emulatorWithoutLatency, .wrappedEmulator] }
    }

    @Test(arguments: Backend.all, applicable) func contract(
        _ backend: Backend, _ scenario: ContractScenario
    ) async throws {
        switch backend {
        case .bluez: try await scenario.run(on: Self.bluez.get())
        case .emulator: try await run(scenario, on: EmulatorFixture(seed: 1))
        case .emulatorWithoutLatency: try await run(scenario, on: EmulatorFixture(configuration: .instant, seed: 1))
        case .wrappedEmulator:
            let fixture = try EmulatorFixture(seed: 1) { emulator in
                let traced = TracingBackend(around: emulator, to: .memory)
                return try FaultInjectingBackend(around: traced, plan: FaultPlan(faults: []))
            }
            try await run(scenario, on: fixture)
        }
    }

    private func run(_ scenario: ContractScenario, on fixture: EmulatorFixture) async throws {
        do {
            try await scenario.run(on: fixture)
        } catch {
            Issue.record("seed 1: \(error)\n\(fixture.worldTrace.suffix(60).joined(separator: "\n"))")
        }
    }

    @Test func scenariosThatThisFixtureDoesNotRunAreCountedByReason() {
        let selected = Set(Self.applicable.map(\.name))
        var counts: [String: Int] = [:]
        for scenario in ContractScenario.all where !selected.contains(scenario.name) {
            let needs = scenario.needs.map(\.rawValue).sorted().joined(separator: ", ")
            let reason = scenario.emulatorOnly.map { "never, since \($0)" } ?? (needs.isEmpty ? "" : "later: \(needs)")
            counts[reason.isEmpty ? "only with the contract's peer" : reason, default: 0] += 1
        }
        #expect(Self.isOnBlueZ || counts.isEmpty)
        print("contract: \(selected.count) of \(ContractScenario.all.count) scenarios")
        for (reason, count) in counts.sorted(by: { $0.key < $1.key }) { print("contract: \(count) \(reason)") }
    }

    @Test func theTableOfDifferencesNamesScenariosThatExist() {
        let names = Set(ContractScenario.all.map(\.name))
        #expect(ContractDifference.all.allSatisfy { names.contains($0.scenario) })
        #expect(names.count == ContractScenario.all.count, "names are unique")
    }

    @Test func everyScenarioInTheSourcesRuns() throws {
        let scenarios = ContractScenario.all.map(\.topic) + AsyncScenario.all.map(\.topic)
        let counts = Dictionary(scenarios.map { ($0, 1) }, uniquingKeysWith: +)
        for (topic, count) in try ScenarioSources.counts() {
            #expect(counts[topic] == count, "\(topic).swift defines \(count)")
        }
        for (topic, count) in counts.sorted(by: { $0.key < $1.key }) { print("contract: \(count) in \(topic)") }
    }
}
