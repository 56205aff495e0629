import AsyncBluetooth
import BluetoothEmulator
import BluetoothTracing
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// A gateway under radio histories: whatever goes wrong, its device's values come again, in order and none twice.
@Suite struct GatewayHistoriesTests {
    private static let activity = Duration.seconds(60)
    /// The time after which values come again, at the latest: more than twelve incidents and their waits take.
    private static let limit = Duration.seconds(1_800)

    private static let world: WorldDescription = {
        var device = NumberSensor.description
        device.services.append(
            ServiceDescription(
                "180F", characteristics: [CharacteristicDescription("2A19", .read, value: Data([100]))]))
        return WorldDescription(devices: [device])
    }()

    @Test(.emulator(.histories(30), world: world)) func aGatewayReturnsToItsDevice() async throws {
        try await Self.serve()
    }

    /// Two devices of one name count on their own, so that their order is no rule.
    @Test(.emulator(.histories(30, .all, rate: 5), world: world)) func aGatewayReturnsToOneOfTwoDevices() async throws {
        try await Self.serve(isOrdered: false)
    }

    private static func serve(isOrdered: Bool = true) async throws {
        let emulator = Emulator.current
        let ledger = GatewayLedger()
        try await emulator.run(within: .seconds(10_000)) {
            let central = Central(settings: Central.Settings(connectTimeout: .seconds(30)))
            let gateway = SimulatedGateway(central: central, clock: emulator.swiftClock, ledger: ledger)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await gateway.serve("Sensor") }
                var (count, time) = (0, Duration.zero)
                while emulator.now < activity || emulator.now - time > .seconds(5) {
                    guard emulator.now - time < limit else {
                        Issue.record("no value since \(time)")
                        break
                    }
                    try await Task.sleep(for: .seconds(1))
                    let values = ledger.contents.values
                    if values > count { (count, time) = (values, emulator.now) }
                }
                group.cancelAll()
            }
        }
        try await emulator.advance(by: .seconds(1))
        #expect(emulator.devices.allSatisfy { $0.connectionCount == 0 })
        // A malformed number may be any.
        let isCorrupted = emulator.trace.contains { $0.text.contains("fault applied") && $0.text.contains("corrupt") }
        if isOrdered, !isCorrupted { #expect(ledger.contents.violations == []) }
    }
}
