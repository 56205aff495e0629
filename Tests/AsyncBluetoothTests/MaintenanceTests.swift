import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

@Suite(.emulator(.instant)) struct MaintenanceTests {
    /// Returns the events of a maintained connection as words, with the second of their arrival.
    private static func follow(
        _ peripheral: Peripheral, _ fixture: Fixture, _ events: Log<String>, policy: ReconnectionPolicy = .backoff()
    ) async {
        let clock = fixture.emulator.swiftClock
        let start = clock.now
        for await event in peripheral.maintainConnection(policy, clock: clock) {
            let second = Int((start.duration(to: clock.now) / .seconds(1)).rounded())
            switch event {
            case .connected: events.append("connected \(second)")
            case .failed: events.append("failed \(second)")
            case .disconnected: events.append("disconnected \(second)")
            case .gaveUp: events.append("gave up \(second)")
            case .cancelled: events.append("cancelled \(second)")
            }
        }
    }

    @Test func aLostLinkIsMadeAgainAndNotificationsGoOn() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let (values, events) = try await Self.received(2, of: gadget, fixture) {
            device.notify("FFF1", value: Data([1]))
            // The value would be lost if the device left the range at once.
            try await clock.sleep(for: .seconds(1))
            device.setProximity(.outOfRange)
            try await clock.sleep(for: .seconds(28))
            device.setProximity(.near)
            try await clock.sleep(for: .seconds(10))
            device.notify("FFF1", value: Data([2]))
        }
        #expect(values == [Data([1]), Data([2])])
        #expect(events == ["connected", "disconnected", "connected", "cancelled"])
        #expect(device.connectionCount == 0)
    }

    /// Returns the values that arrive over a maintained connection while it is disturbed, and its events without their
    /// times.
    private static func received(
        _ count: Int, of peripheral: Peripheral, _ fixture: Fixture,
        while happening: @escaping @Sendable () async throws -> Void
    ) async throws -> (values: [Data], events: [Substring]) {
        let events = Log<String>()
        let values = try await fixture.run {
            async let following: Void = Self.follow(peripheral, fixture, events)
            async let values = Self.values(count, of: peripheral)
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            try await happening()
            let received = try await values
            await peripheral.disconnect()
            await following
            return received
        }
        return (values, events.values.map { $0.split(separator: " ")[0] })
    }

    private static func values(_ count: Int, of peripheral: Peripheral) async throws -> [Data] {
        var values: [Data] = []
        for try await value in peripheral.notifications(of: "FFF0/FFF1") {
            values.append(value)
            if values.count == count { break }
        }
        return values
    }

    @Test func anExchangeFailsWithTheLinkOfItsCommandAndTheNextOneUsesTheNextLink() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let (lost, answer) = try await fixture.run { () -> (BluetoothError?, Data) in
            async let following: Void = Self.follow(gadget, fixture, Log())
            async let failure = #expect(throws: BluetoothError.self) {
                try await gadget.exchange(Data([1]), writingTo: "FFF0/FFF1", notifiedBy: "FFF0/FFF2")
            }
            try await clock.sleep(for: .seconds(1))
            device.setProximity(.outOfRange)
            try await clock.sleep(for: .seconds(28))
            device.setProximity(.near)
            let lost = await failure
            let answer = try await gadget.exchange(Data([7]), writingTo: "FFF0/FFF1", notifiedBy: "FFF0/FFF1")
            await gadget.disconnect()
            await following
            return (lost, answer)
        }
        guard case .disconnected = lost?.reason else {
            Issue.record("\(String(describing: lost))")
            return
        }
        #expect(answer == Data([7]))
    }

    @Test func theWaitBetweenAttemptsGrowsUpToItsLimit() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        device.failNextConnections(5)
        let events = Log<String>()
        try await fixture.run {
            async let following: Void = Self.follow(
                gadget, fixture, events,
                policy: .backoff(initial: .seconds(10), maximum: .seconds(60), factor: 2, jitter: 0))
            try await fixture.emulator.swiftClock.sleep(for: .seconds(300))
            await gadget.disconnect()
            await following
        }
        #expect(
            events.values == [
                "failed 0", "failed 10", "failed 30", "failed 70", "failed 130", "connected 190", "cancelled 300",
            ])
    }

    @Test func disconnectEndsItWhileItWaits() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        device.failNextConnections()
        let events = Log<String>()
        try await fixture.run {
            async let following: Void = Self.follow(
                gadget, fixture, events, policy: .backoff(initial: .seconds(100), maximum: .seconds(100), jitter: 0))
            try await fixture.emulator.swiftClock.sleep(for: .seconds(20))
            await gadget.disconnect()
            await following
        }
        #expect(events.values == ["failed 0", "cancelled 20"])
        #expect(device.connectionCount == 0)
    }

    @Test func theAdapterMayBeSwitchedOffAndOn() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let events = Log<String>()
        try await fixture.run {
            async let following: Void = Self.follow(gadget, fixture, events)
            try await clock.sleep(for: .seconds(10))
            fixture.emulator.host.setPower(false)
            try await clock.sleep(for: .seconds(10))
            fixture.emulator.host.setPower(true)
            try await clock.sleep(for: .seconds(10))
            await gadget.disconnect()
            await following
        }
        #expect(events.values == ["connected 0", "disconnected 10", "connected 20", "cancelled 30"])
        #expect(device.connectionCount == 0)
    }

    @Test func aSubscriptionThatThePowerInterruptsIsMadeOnTheNextLink() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let (values, events) = try await Self.received(1, of: gadget, fixture) {
            device.inject(DeviceFault(.subscribe, .pause))
            device.disconnect()
            try await clock.sleep(for: .seconds(9))
            fixture.emulator.host.setPower(false)
            try await clock.sleep(for: .seconds(10))
            fixture.emulator.host.setPower(true)
            try await clock.sleep(for: .seconds(10))
            device.notify("FFF1", value: Data([1]))
        }
        #expect(values == [Data([1])])
        #expect(events == ["connected", "disconnected", "failed", "connected", "cancelled"])
    }

    @Test func aSubscriptionThatBeginsWhileTheAdapterIsOffIsMadeOnTheNextLink() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let events = Log<String>()
        let values = try await fixture.run {
            async let following: Void = Self.follow(gadget, fixture, events)
            try await clock.sleep(for: .seconds(1))
            fixture.emulator.host.setPower(false)
            try await clock.sleep(for: .seconds(1))
            async let values = Self.values(1, of: gadget)
            try await clock.sleep(for: .seconds(1))
            fixture.emulator.host.setPower(true)
            try await clock.sleep(for: .seconds(10))
            device.notify("FFF1", value: Data([1]))
            let received = try await values
            await gadget.disconnect()
            await following
            return received
        }
        #expect(values == [Data([1])])
        #expect(events.values == ["connected 0", "disconnected 1", "connected 3", "cancelled 13"])
    }

    @Test func aSubscriptionThatWaitsForTheAdapterEndsWithADisconnectionByTheApp() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let events = Log<String>()
        let failure = try await fixture.run {
            async let following: Void = Self.follow(gadget, fixture, events)
            try await clock.sleep(for: .seconds(1))
            fixture.emulator.host.setPower(false)
            try await clock.sleep(for: .seconds(1))
            async let subscription = #expect(throws: BluetoothError.self) {
                try await gadget.subscribe(to: "FFF0/FFF1")
            }
            try await clock.sleep(for: .seconds(1))
            await gadget.disconnect()
            fixture.emulator.host.setPower(true)
            try await clock.sleep(for: .seconds(10))
            await following
            return await subscription
        }
        #expect(failure.map { "\($0.reason)" } == "\(BluetoothError.Reason.cancelled)")
        #expect(gadget.state == .disconnected)
        #expect(events.values == ["connected 0", "disconnected 1", "cancelled 3"])
    }

    @Test func cancellingEndsTheAttempts() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        device.setProximity(.outOfRange)
        let events = Log<String>()
        await #expect(throws: BluetoothError.self) {
            try await fixture.run {
                try await withTimeout(.seconds(50), clock: fixture.emulator.swiftClock) {
                    await Self.follow(gadget, fixture, events)
                    try Task.checkCancellation()
                }
            }
        }
        device.setProximity(.near)
        try await fixture.emulator.advance(by: .seconds(60))
        #expect(events.values == [])
        #expect(device.connectionCount == 0)
    }

    @Test func theWaitsOfAPolicyAreWithinItsBounds() {
        let policy = ReconnectionPolicy.backoff(initial: .seconds(1), maximum: .seconds(10), factor: 3)
        #expect(policy.initial == .seconds(1))
        let odd = ReconnectionPolicy.backoff(initial: .seconds(-1), maximum: .seconds(-5), factor: 0)
        #expect(odd.initial == .zero)
        #expect(odd.maximum == .zero)
        #expect(odd.factor == 1)
    }
}
