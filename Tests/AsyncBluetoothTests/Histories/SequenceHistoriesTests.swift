import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// Sequences under radio histories: they yield in order and nothing twice, and end by throwing rather than fall silent.
@Suite struct SequenceHistoriesTests {
    /// The time after which a sequence has yielded or ended, at the latest: more than twelve incidents take.
    private static let limit = Duration.seconds(900)
    private static let activity = Duration.seconds(60)

    @Test(.emulator(.histories(30, .all, rate: 4), world: NumberSensor.world))
    func aSubscriptionYieldsInOrderOrEndsByThrowing() async throws {
        let emulator = Emulator.current
        let received = ReceivedNumbers()
        let ended = Log<Duration>()
        emulator.always("numbers arrive in order, and none twice") { received.disorder.isEmpty }
        try await emulator.run(within: .seconds(10_000)) {
            let central = Central(settings: Central.Settings(connectTimeout: .seconds(30)))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    while true {
                        // A device with a new address is a new device for the host.
                        let sensor = try await central.find(NumberSensor.service)
                        do {
                            for try await value in sensor.notifications(of: NumberSensor.value) {
                                received.receive(value, from: sensor, at: emulator.now)
                            }
                            try Task.checkCancellation()
                            Issue.record("a subscription ended without an error")
                        } catch is BluetoothError {}
                        ended.append(emulator.now)
                        try await Task.sleep(for: .seconds(1))
                    }
                }
                while emulator.now < Self.activity || emulator.now - received.time > .seconds(5) {
                    let silence = emulator.now - max(received.time, ended.values.last ?? .zero)
                    guard silence < Self.limit else {
                        Issue.record("neither a value nor an end for \(silence)")
                        break
                    }
                    try await Task.sleep(for: .seconds(1))
                }
                group.cancelAll()
            }
        }
        try await emulator.advance(by: .seconds(1))
        #expect(emulator.devices.allSatisfy { $0.connectionCount == 0 && $0.subscriberCount(of: "FFF1") == 0 })
    }

    @Test(.emulator(.histories(30, .all, rate: 4), world: NumberSensor.world))
    func aScanGoesOnOrEndsByThrowingAndReportsNoChangeTwice() async throws {
        let emulator = Emulator.current
        let times = Log<Duration>()
        try await emulator.run(within: .seconds(10_000)) {
            let central = Central()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await Self.repeatScan(central, allowDuplicates: true) { _ in times.append(emulator.now) }
                }
                group.addTask {
                    try await Self.repeatScan(central, allowDuplicates: false) { reports in
                        guard let last = reports.last else { return }
                        let before = reports.dropLast().last { $0.peripheral == last.peripheral }
                        if before?.advertisement == last.advertisement { Issue.record("a report came twice") }
                    }
                }
                while emulator.now < .seconds(20) || emulator.now - (times.values.last ?? .zero) > .seconds(5) {
                    guard emulator.now < Self.limit else {
                        Issue.record("no report since \(times.values.last ?? .zero)")
                        break
                    }
                    try await Task.sleep(for: .seconds(1))
                }
                group.cancelAll()
            }
        }
    }

    /// Scans, again after each end, and calls `check` with the reports of the scan after each of them.
    private static func repeatScan(
        _ central: Central, allowDuplicates: Bool, _ check: @Sendable ([DiscoveredPeripheral]) -> Void
    ) async throws {
        while true {
            var reports: [DiscoveredPeripheral] = []
            do {
                for try await found in central.scan(for: [NumberSensor.service], allowDuplicates: allowDuplicates) {
                    reports.append(found)
                    check(reports)
                }
                try Task.checkCancellation()
                Issue.record("a scan ended without an error")
            } catch is BluetoothError {}
            try await Task.sleep(for: .seconds(1))
        }
    }

    @Test(.emulator(.histories(30, .flakyHost, rate: 5), world: NumberSensor.world))
    func theLastStateOfTheAdapterIsItsState() async throws {
        let emulator = Emulator.current
        try await emulator.run {
            let central = Central()
            let states = Log<CBManagerState>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { for await state in central.states { states.append(state) } }
                try await Task.sleep(for: .seconds(20))
                #expect(states.values.last == central.state)
                #expect(zip(states.values, states.values.dropFirst()).allSatisfy { $0 != $1 })
                group.cancelAll()
            }
        }
    }
}
