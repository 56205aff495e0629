#if BlueZ
import BluetoothDBus
import BluetoothEmulator
import CoreBluetooth
import Foundation
import ScriptedBlueZ
import Testing

@testable import EmulatedBlueZ

/// The contract over an emulated `bluetoothd` after eight programs have made random calls to it, for `FUZZ_SECONDS`
/// over all scenarios together, from the seed `FUZZ_SEED`.
///
/// It needs a separate process: `make fuzz`.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["FUZZ_SECONDS"] != nil, "make fuzz"))
struct RandomCallsTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed =
        environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? UInt64(Date().timeIntervalSince1970)
    private static var scenarios: [ContractScenario] { EmulatedBlueZContractTests.applicable }

    /// The duration for each scenario.
    private static var duration: Duration {
        let seconds = environment["FUZZ_SECONDS"].flatMap { Double($0) } ?? 300
        return .seconds(seconds / Double(max(1, scenarios.count * BlueZDialect.allCases.count)))
    }

    @Test(arguments: BlueZDialect.allCases, scenarios)
    func theContractHoldsAfterRandomCalls(_ dialect: BlueZDialect, _ scenario: ContractScenario) async throws {
        let fixture = try await EmulatedBlueZFixture(dialect)
        let device = try fixture.world.emulator.add(.heartRateMonitor)
        let count = try await RandomCalls.run(
            Self.methods(of: dialect), on: fixture.bus, for: Self.duration, seed: Self.seed)
        #expect(count > 0)
        device.remove()
        try await fixture.restoreSettings()
        try await scenario.run(on: fixture)
    }

    private static func methods(of dialect: BlueZDialect) -> [RandomCalls.Method] {
        let interfaces = BlueZInterfaces(EmulatedBlueZConfiguration(dialect: dialect))
        return interfaces.names.flatMap { name in
            (interfaces[name]?.methods ?? []).map { (name, $0.name, $0.arguments.map(\.value)) }
        }
    }
}

extension EmulatedBlueZFixture {
    /// Reverts the permanent changes that programs may make to an adapter: its power, its names and whether it is
    /// discoverable.
    fileprivate func restoreSettings() async throws {
        guard let adapter = ObjectPath("/org/bluez/hci0") else { throw ContractTimeout() }
        world.emulator.host.setPower(true)
        let settings: KeyValuePairs<String, DBusValue> = [
            "Powered": .boolean(true), "Alias": .string(""), "Discoverable": .boolean(false),
            "Pairable": .boolean(true),
        ]
        for (name, value) in settings {
            try await program.callDaemon(
                adapter, "org.freedesktop.DBus.Properties", "Set",
                [.string("org.bluez.Adapter1"), .string(name), .variant(value)])
        }
    }
}
#endif
