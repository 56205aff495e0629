import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import Foundation
import ScriptedBlueZ
import Testing

/// A gateway over days of virtual time, in which devices and the machine fail again and again.
///
/// `make test` runs two hours. `make gateway-days DAYS=7` uses a separate process, and counts its resources after each
/// seventh of the time.
@Suite struct GatewayDaysTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let days = environment["COREBLUETOOTH_GATEWAY_DAYS"].flatMap { Double($0) }
    private static let seed = environment["COREBLUETOOTH_GATEWAY_SEED"].flatMap { UInt64($0) } ?? 1
    private static let halfMinutesADay = 2_880.0

    private static func device(_ number: Int) -> PeripheralDescription {
        let name = "Sensor \(number)"
        return PeripheralDescription(
            name: name, advertising: [AdvertisingDescription(AdvertisingData(localName: name, services: ["FFF0"]))],
            services: [
                ServiceDescription("FFF0", characteristics: [CharacteristicDescription("FFF1", [.read, .notify])]),
                ServiceDescription(
                    "180F", characteristics: [CharacteristicDescription("2A19", .read, value: Data([100]))]),
            ])
    }

    @Test func aGatewayLosesNoValueAndReturnsToEachDeviceThatIsWell() async throws {
        var settings = EmulatorConfiguration.default
        settings.traceLimit = 1_000
        let emulator = Emulator(configuration: settings, time: .virtual, seed: Self.seed)
        let devices = try (1...10).map { try emulator.add(Self.device($0)) }
        let ledger = GatewayLedger()
        let parts = Int(((Self.days ?? 1.0 / 12) * Self.halfMinutesADay / 7).rounded(.up))
        let limit = Duration.seconds(parts * 7 * 30 + 3_600)
        let central = try await Fixture(emulator).run(within: limit) { () -> WeakObject in
            try await Self.run(emulator, devices, ledger, halfMinutes: parts)
        }
        let contents = ledger.contents
        #expect(contents.violations.isEmpty, "COREBLUETOOTH_GATEWAY_SEED=\(Self.seed): \(contents.violations)")
        #expect(contents.values > parts * 7 * devices.count / 2)
        #expect(contents.connections > devices.count && contents.reads > devices.count)
        try await emulator.advance(by: .seconds(60))
        #expect(devices.allSatisfy { $0.connectionCount == 0 }, "a link outlives the gateway")
        #expect(central.isGone, "the central outlives the gateway")
    }

    /// Runs seven times a number of half minutes.
    private static func run(
        _ emulator: Emulator, _ devices: [EmulatedDevice], _ ledger: GatewayLedger, halfMinutes: Int
    ) async throws -> WeakObject {
        let central = Central(backend: .emulator(emulator))
        let gateway = SimulatedGateway(central: central, clock: emulator.swiftClock, ledger: ledger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            var days = TroubledDays(emulator, devices, ledger, seed: seed)
            for name in devices.map(\.name) { group.addTask { await gateway.serve(name) } }
            var before: ProcessResources?
            for part in 1...7 {
                for _ in 0..<halfMinutes { try await days.pass() }
                guard Self.days != nil else { continue }
                let now = try ProcessResources()
                let contents = ledger.contents
                print(
                    "gateway: \(part)/7: \(days.sent) values sent, \(contents.values) received, \(days.troubles) troubles,",
                    "\(contents.connections) connections, \(contents.reads) reads, \(contents.failedReads) failed: \(now)"
                )
                before = before ?? now
                if let before { expectFlat(before, now) }
            }
            days.end()
            group.cancelAll()
        }
        return WeakObject("central", central)
    }

    private static func expectFlat(_ before: ProcessResources, _ now: ProcessResources) {
        #expect(now.descriptors <= before.descriptors)
        #expect(now.threads <= before.threads + 4, "Dispatch's pools breathe")
        #expect(now.memory - before.memory < 8_192)
    }
}
