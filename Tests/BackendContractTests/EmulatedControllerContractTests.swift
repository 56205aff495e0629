#if BlueZ && os(Linux)
import Testing

/// The fourth stage of the contract: every scenario on the BlueZ backend, a real `bluetoothd` and a real kernel, whose
/// controller belongs to the emulated world of the peers.
///
/// `CONTRACT_CONTROLLER` names the port: `vhci`, or `usb` for a dongle that `btusb` drives. The expected differences are
/// those of the daemon with the contract's other peer.
@Suite(.serialized, .enabled(if: EmulatedControllerFixture.port != nil, "needs a guest: make test-controller"))
struct EmulatedControllerContractTests {
    private static var applicable: [ContractScenario] {
        ContractScenario.all.filter {
            $0.needs.isSubset(of: EmulatedControllerFixture.features) && $0.emulatorOnly == nil
                && BlueZFixture.isSelected($0.name, of: $0.topic)
        }
    }

    private static var applicableAsync: [AsyncScenario] {
        AsyncScenario.all.filter { BlueZFixture.isSelected($0.name, of: $0.topic) }
    }

    @Test(arguments: applicable) func contract(_ scenario: ContractScenario) async throws {
        try await withController { try await scenario.run(on: $0) }
    }

    @Test(arguments: applicableAsync) func asyncContract(_ scenario: AsyncScenario) async throws {
        try await withController { try await scenario.run(on: $0) }
    }

    /// Runs a scenario with a new controller, which is unplugged afterwards.
    private func withController(_ run: (EmulatedControllerFixture) async throws -> Void) async throws {
        let fixture = try await EmulatedControllerFixture()
        let result: Result<Void, any Error>
        do { result = .success(try await run(fixture)) } catch { result = .failure(error) }
        try await fixture.end()
        try result.get()
    }
}
#endif
