import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

@testable import AsyncBluetooth

@Suite struct ReconnectionPolicyTests {
    private func delays(_ policy: ReconnectionPolicy, _ device: UUID) -> [Duration] {
        var random = policy.makeGenerator(for: device)
        return (0..<8).map { policy.delay(after: $0, using: &random) }
    }

    @Test func eachWaitIsShortenedByAtMostTheJitter() {
        let policy = ReconnectionPolicy.backoff(initial: .seconds(1), maximum: .seconds(60), jitter: 0.5)
        let plain = ReconnectionPolicy.backoff(initial: .seconds(1), maximum: .seconds(60), jitter: 0)
        for _ in 0..<100 {
            let device = UUID()
            for (short, long) in zip(delays(policy, device), delays(plain, device)) {
                #expect(short <= long && short >= long * 0.5, "\(device)")
            }
        }
        #expect(delays(plain, UUID()) == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
    }

    @Test func theWaitsFollowFromTheSeedAndElseFromTheDevice() {
        let (one, two) = (UUID(), UUID())
        #expect(delays(.backoff(), one) == delays(.backoff(), one))
        #expect(delays(.backoff(), one) != delays(.backoff(), two))
        #expect(delays(.backoff(seed: 7), one) == delays(.backoff(seed: 7), two))
        #expect(delays(.backoff(seed: 7), one) != delays(.backoff(seed: 8), one))
    }

    @Test func aMaintenanceThatIsStoppedBeforeItsTaskIsKnownIsToBeCancelled() {
        var maintenance = ConnectionMaintenance()
        maintenance.begin(1)
        #expect(maintenance.isActive)
        #expect(maintenance.stop().isEmpty)
        #expect(!maintenance.isActive)
        let task = Task<Void, Never> {}
        let mustCancel = maintenance.attach(task, to: 1)
        #expect(mustCancel)
        #expect(maintenance.isStopped(1))
        maintenance.end(1)
        #expect(maintenance.isEmpty)
        // A task that begins afterwards is not affected.
        maintenance.begin(2)
        #expect(maintenance.attach(task, to: 2) == false)
        #expect(maintenance.isActive)
    }
}

@Suite(.emulator(.instant)) struct ReconnectionLimitTests {
    @Test func itGivesUpAfterTheAttemptsOfThePolicyAndNamesTheDevice() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        device.failNextConnections(5)
        let events = try await fixture.run { () -> [String] in
            var events: [String] = []
            for await event in gadget.maintainConnection(.backoff(attempts: 3), clock: fixture.emulator.swiftClock) {
                events.append("\(event)")
            }
            return events
        }
        let failed = "connect of Gadget (\(gadget.identifier.uuidString)): the connection failed"
        #expect(events.count == 3)
        #expect(events.dropLast().allSatisfy { $0.hasPrefix(failed) }, "\(events)")
        #expect(events.last?.hasPrefix("gave up: " + failed) == true, "\(events)")
    }

    @Test func aLostLinkIsPrintedAsTheEndOfALinkAndNotAsAConnect() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let event = try await fixture.run { () -> ConnectionEvent? in
            for await event in gadget.maintainConnection(clock: fixture.emulator.swiftClock) {
                guard case .connected = event else { return event }
                device.setProximity(.outOfRange)
            }
            return nil
        }
        let text = "the link to Gadget (\(gadget.identifier.uuidString)) ended: "
        #expect(event?.description == text + "The connection has timed out unexpectedly.")
    }
}
