#if BlueZ
import BlueZ
import BluetoothEmulator
import CoreBluetooth
import EmulatedBlueZ
import Testing

/// The third stage of the contract: every scenario over D-Bus, on the BlueZ backend and an emulated `bluetoothd`.
///
/// The expected differences are those of the real daemon; if the two disagree, the real one is right.
@Suite struct EmulatedBlueZContractTests {
    static var applicable: [ContractScenario] {
        ContractScenario.all.filter {
            $0.needs.isSubset(of: EmulatedBlueZFixture.features) && $0.emulatorOnly == nil
                && BlueZFixture.isSelected($0.name, of: $0.topic)
        }
    }

    private static var notifying: [ContractScenario] { applicable.filter { $0.topic == "Notifying" } }

    private static var applicableAsync: [AsyncScenario] {
        AsyncScenario.all.filter { BlueZFixture.isSelected($0.name, of: $0.topic) }
    }

    @Test(
        .enabled(if: !BlueZFixture.isChosen), .limitedPrivateBuses, arguments: BlueZDialect.allCases, applicable)
    func contract(_ dialect: BlueZDialect, _ scenario: ContractScenario) async throws {
        try await scenario.run(on: EmulatedBlueZFixture(dialect))
    }

    /// Runs the scenarios of notifications over the sockets of `AcquireNotify`, as on a real `bluetoothd`.
    @Test(.enabled(if: !BlueZFixture.isChosen), .limitedPrivateBuses, arguments: BlueZDialect.allCases, notifying)
    func notifyingOverSockets(_ dialect: BlueZDialect, _ scenario: ContractScenario) async throws {
        try await scenario.run(on: EmulatedBlueZFixture(dialect, .acquireNotify))
    }

    @Test(
        .enabled(if: !BlueZFixture.isChosen), .limitedPrivateBuses, arguments: BlueZDialect.allCases, applicableAsync)
    func asyncContract(_ dialect: BlueZDialect, _ scenario: AsyncScenario) async throws {
        try await scenario.run(on: EmulatedBlueZFixture(dialect))
    }

    @Test func atLeastAHundredAndFiftyScenariosRun() {
        #expect(!Self.notifying.isEmpty || BlueZFixture.isSelected("", of: "") == false)
        #expect(Self.applicable.count >= 150 || BlueZFixture.isSelected("", of: "") == false)
        print("contract: \(Self.applicable.count) of \(ContractScenario.all.count) scenarios over EmulatedBlueZ")
    }
}
#endif
