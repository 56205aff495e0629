import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// A maintained connection under radio histories: it is back whenever the device is, and its values continue in order.
@Suite struct MaintenanceHistoriesTests {
    /// The time in which the incidents of a history begin; all are over two minutes later.
    private static let activity = Duration.seconds(60)
    /// The time after which a connection is back, at the latest: more than twelve incidents and their waits take.
    private static let limit = Duration.seconds(900)

    @Test(.emulator(.histories(30, .all), world: NumberSensor.world))
    func aMaintainedConnectionIsBackAfterWhateverGoesWrong() async throws { try await Self.follow() }

    @Test(.emulator(.histories(30, .walking, rate: 6), world: NumberSensor.world))
    func aMaintainedConnectionIsBackAfterManyWalks() async throws { try await Self.follow() }

    @Test(.emulator(.histories(30, .flakyHost, rate: 6), world: NumberSensor.world))
    func aMaintainedConnectionIsBackAfterTheAdapterIs() async throws { try await Self.follow() }

    private static func follow() async throws {
        let emulator = Emulator.current
        let received = ReceivedNumbers()
        emulator.always("numbers arrive in order, and none twice") { received.disorder.isEmpty }
        try await emulator.run(within: .seconds(10_000)) {
            // A device that does not answer a connect would otherwise hold it forever, as on Apple's systems.
            let central = Central(settings: Central.Settings(connectTimeout: .seconds(30)))
            var sensor: Peripheral?
            while let next = try await another(than: sensor, central) {
                sensor = next
                try await follow(next, received)
                if isDone(received) { return }
            }
            Issue.record("the device advertises, and no value has come since \(received.time)")
        }
        #expect(emulator.devices.allSatisfy { $0.connectionCount == 0 })
    }

    private static func isDone(_ received: ReceivedNumbers) -> Bool {
        let now = Emulator.current.now
        return now >= activity && now - received.time <= .seconds(5)
    }

    /// Receives a sensor's numbers over a maintained connection until the end, or until none have come for too long.
    private static func follow(_ sensor: Peripheral, _ received: ReceivedNumbers) async throws {
        let emulator = Emulator.current
        let begin = emulator.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in sensor.maintainConnection() {} }
            group.addTask {
                // A subscription that a device refuses ends by throwing; the app subscribes again.
                while true {
                    do {
                        for try await value in sensor.notifications(of: NumberSensor.value) {
                            received.receive(value, from: sensor, at: emulator.now)
                        }
                    } catch is BluetoothError {}
                    try await Task.sleep(for: .seconds(1))
                }
            }
            while !isDone(received), emulator.now - max(received.time, begin) < limit {
                try await Task.sleep(for: .seconds(1))
            }
            group.cancelAll()
        }
        await sensor.disconnect()
    }

    /// Searches a sensor.
    ///
    /// - Parameter sensor: The sensor whose connection was not maintained. If the device has a private address and no
    ///   bond, it may have become another one for the host, and must be found again.
    /// - Returns: nil if that sensor advertises: then its connection should have been maintained.
    private static func another(than sensor: Peripheral?, _ central: Central) async throws -> Peripheral? {
        let found = Log<Peripheral>()
        while found.values.isEmpty {
            do {
                _ = try await central.first(for: [NumberSensor.service], within: .seconds(10)) {
                    found.append($0.peripheral)
                    return false
                }
            } catch is BluetoothError { try await Task.sleep(for: .seconds(1)) }
        }
        if let sensor, found.values.contains(sensor) { return nil }
        return found.values.first
    }
}
