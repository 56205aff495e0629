import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// Sequences that are read again after a cancellation, a timeout or the end of a loop.
///
/// A sequence that spins ends its test with `EmulatorError.tasksUnsettled`.
@Suite(.emulator(.instant), .timeLimit(.minutes(5))) struct ReadingAgainTests {
    @Test func aSubscriptionThatIsReadAgainAfterATimeoutWaitsForTheNextValue() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let value = try await fixture.run { () -> Data? in
            let values = try await gadget.subscribe(to: "FFF0/FFF1")
            await #expect(throws: BluetoothError.self) {
                try await withTimeout(.seconds(1), clock: clock) { for try await _ in values {} }
            }
            async let next = Self.first(of: values)
            try await clock.sleep(for: .seconds(1))
            device.notify("FFF1", value: Data([7]))
            let value = try await next
            #expect(fixture.count(of: "setNotifying") == 1, "the subscription stays while the sequence is held")
            return value
        }
        #expect(value == Data([7]))
    }

    @Test func valuesThatALoopLeavesBehindAreReadByTheNextLoop() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let read = try await fixture.run { () -> [Data?] in
            let values = try await gadget.subscribe(to: "FFF0/FFF1")
            for number in UInt8(1)...3 { device.notify("FFF1", value: Data([number])) }
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            return [
                try await Self.first(of: values), try await Self.first(of: values), try await Self.first(of: values),
            ]
        }
        #expect(read == [Data([1]), Data([2]), Data([3])])
    }

    @Test func twoTasksThatReadOneSubscriptionShareItsValues() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let read = try await fixture.run { () -> Set<Data?> in
            let values = try await gadget.subscribe(to: "FFF0/FFF1")
            async let one = Self.first(of: values)
            async let two = Self.first(of: values)
            try await clock.sleep(for: .seconds(1))
            device.notify("FFF1", value: Data([1]))
            try await clock.sleep(for: .seconds(1))
            device.notify("FFF1", value: Data([2]))
            return [try await one, try await two]
        }
        #expect(read == [Data([1]), Data([2])])
    }

    private static func first(of values: ValueSequence<Data>) async throws -> Data? {
        for try await value in values { return value }
        return nil
    }
}
