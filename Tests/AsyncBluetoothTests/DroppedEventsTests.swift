import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import Dispatch
import Foundation
import Testing

/// Queues that are busy while other devices send: in real time, since virtual time waits for them.
@Suite(.timeLimit(.minutes(5))) struct DroppedEventsTests {
    private static let limit = CBManagerLimits().undeliveredEvents

    @Test func aCentralCountsTheNotificationsThatItsQueueDidNotTake() async throws {
        let emulator = Emulator(configuration: .instant)
        let device = try emulator.add(.gadget)
        let queue = DispatchQueue(label: "a busy central")
        let central = Central(queue: queue, backend: .emulator(emulator))
        let peripheral = try await Fixture.first(central)
        let values = try await peripheral.subscribe(to: "FFF0/FFF1")
        #expect(central.droppedEvents == CBDroppedEvents())
        queue.suspend()
        for number in 0..<(Self.limit + 1_000) {
            device.notify("FFF1", value: Data([UInt8(truncatingIfNeeded: number)]))
        }
        queue.resume()
        _ = try await peripheral.read("FFF0/FFF3")
        #expect(central.droppedEvents.notifications >= 1_000)
        withExtendedLifetime(values) {}
    }

    @Test func aServerCountsTheSubscriptionsThatItsQueueDidNotTake() async throws {
        let emulator = Emulator(configuration: .instant)
        let queue = DispatchQueue(label: "a busy server")
        let server = PeripheralServer(queue: queue, backend: .emulator(emulator))
        try await server.add(
            ServedService(CBUUID(string: "FFF0"), characteristics: [.init(CBUUID(string: "FFF1"), .notify)]))
        try await server.startAdvertising(name: "Server", services: [CBUUID(string: "FFF0")])
        let central = Central(backend: .emulator(emulator))
        let peripheral = try await Fixture.first(central)
        _ = try await peripheral.characteristics(of: "FFF0")
        #expect(server.droppedEvents == CBDroppedEvents())
        queue.suspend()
        for _ in 0..<(Self.limit / 2 + 1_000) {
            let values = try await peripheral.subscribe(to: "FFF0/FFF1")
            withExtendedLifetime(values) {}
        }
        queue.resume()
        let values = try await peripheral.subscribe(to: "FFF0/FFF1")
        for await _ in server.subscriptions {
            if server.subscribers(of: "FFF0/FFF1").count == 1 { break }
        }
        #expect(server.droppedEvents.mergedChanges > 0)
        withExtendedLifetime(values) {}
    }
}
