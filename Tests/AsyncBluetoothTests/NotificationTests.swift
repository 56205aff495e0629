import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

@Suite(.emulator(.instant)) struct NotificationTests {
    /// Returns the first values of a characteristic.
    private static func values(
        _ count: Int, of peripheral: Peripheral, _ id: CharacteristicID = "FFF0/FFF1"
    ) async throws -> [Data] {
        var values: [Data] = []
        for try await value in peripheral.notifications(of: id) {
            values.append(value)
            if values.count == count { break }
        }
        return values
    }

    @Test func theFirstConsumerSubscribesAndTheEndOfTheLastOneUnsubscribes() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let counts = try await fixture.run {
            async let one = Self.values(1, of: gadget)
            async let two = Self.values(2, of: gadget)
            try await clock.sleep(for: .seconds(1))
            var counts = [device.subscriberCount(of: "FFF1")]
            device.notify("FFF1", value: Data([1]))
            try await clock.sleep(for: .seconds(1))
            let first = try await one
            #expect(first == [Data([1])])
            counts.append(device.subscriberCount(of: "FFF1"))
            device.notify("FFF1", value: Data([2]))
            let second = try await two
            #expect(second == [Data([1]), Data([2])])
            try await clock.sleep(for: .seconds(1))
            counts.append(device.subscriberCount(of: "FFF1"))
            return counts
        }
        #expect(counts == [1, 1, 0])
        #expect(fixture.count(of: "setNotifying") == 2)
    }

    @Test func valuesThatComeWhileNobodyAsksAreKept() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let values = try await fixture.run {
            let values = try await gadget.subscribe(to: "FFF0/FFF1")
            let newest = try await gadget.subscribe(to: "FFF0/FFF1", buffering: .newest(1))
            for number in UInt8(1)...3 { device.notify("FFF1", value: Data([number])) }
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            var kept: [[Data]] = [[], []]
            for try await value in values {
                kept[0].append(value)
                if kept[0].count == 3 { break }
            }
            for try await value in newest {
                kept[1].append(value)
                break
            }
            return kept
        }
        #expect(values == [[Data([1]), Data([2]), Data([3])], [Data([3])]])
    }

    /// A device may notify before it confirms the subscription.
    @Test func aValueThatComesBeforeTheConfirmationIsKept() async throws {
        let fixture = Fixture()
        let (_, peripheral) = try await fixture.find(.notifiesTooEarly)
        let values = try await fixture.run {
            let service = try await #require(peripheral.services().first)
            return try await Self.values(1, of: peripheral, CharacteristicID(CBUUID(string: "FFF1"), in: service))
        }
        #expect(values == [Data("B".utf8)])
    }

    @Test func aNotificationDoesNotCompleteAPendingRead() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let clock = fixture.emulator.swiftClock
        let (values, early) = try await fixture.run {
            let values = try await gadget.subscribe(to: "FFF0/FFF1")
            device.holdReads(of: "FFF1")
            let isRead = Flag()
            let read = Task {
                _ = try await gadget.read("FFF0/FFF1")
                isRead.set()
            }
            try await clock.sleep(for: .seconds(1))
            device.notify("FFF1", value: Data([9]))
            try await clock.sleep(for: .seconds(1))
            let early = isRead.isSet
            var kept: [Data] = []
            for try await value in values {
                kept.append(value)
                break
            }
            await gadget.disconnect()
            await #expect(throws: BluetoothError.self) { try await read.value }
            return (kept, early)
        }
        #expect(values == [Data([9])])
        #expect(!early)
    }

    @Test func aLostLinkEndsTheSequenceByThrowing() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let reason = try await fixture.run { () -> BluetoothError? in
            async let values = Self.values(5, of: gadget)
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            device.notify("FFF1", value: Data([1]))
            device.disconnect()
            do {
                _ = try await values
                return nil
            } catch let error as BluetoothError {
                return error
            }
        }
        guard case .disconnected(.some) = reason?.reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
        #expect(reason?.operation == .notifications)
        #expect(reason?.path == "FFF0/FFF1")
    }

    @Test func aSubscriptionThatEndsByItselfEndsTheSequencesAndMayBeginAgain() async throws {
        let emulator = Emulator.current
        let device = try emulator.add(.gadget)
        let central = Central(backend: .custom(SubscriptionEndingBackend(emulator)))
        let (reason, again) = try await Fixture(emulator).run { () -> (BluetoothError?, [Data]) in
            let gadget = try await Fixture.first(central)
            let clock = emulator.swiftClock
            async let values = Self.values(5, of: gadget)
            try await clock.sleep(for: .seconds(1))
            device.notify("FFF1", value: Data([0xFF]))
            var reason: BluetoothError?
            do {
                _ = try await values
            } catch let error as BluetoothError {
                reason = error
            }
            async let again = Self.values(1, of: gadget)
            try await clock.sleep(for: .seconds(1))
            device.notify("FFF1", value: Data([1]))
            return (reason, try await again)
        }
        guard case .refused? = reason?.reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
        #expect(reason?.path == "FFF0/FFF1")
        #expect(again == [Data([1])])
    }

    @Test func aServiceThatGoesEndsItsSequences() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let reason = try await fixture.run { () -> BluetoothError? in
            async let values = Self.values(5, of: gadget)
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            device.removeService("FFF0")
            do {
                _ = try await values
                return nil
            } catch let error as BluetoothError {
                return error
            }
        }
        guard case .missingCharacteristics = reason?.reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    @Test func aCharacteristicWithoutNotificationsIsAnError() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let reason = try await fixture.run { () -> BluetoothError? in
            do {
                _ = try await Self.values(1, of: gadget, "FFF0/FFF3")
                return nil
            } catch let error as BluetoothError {
                return error
            }
        }
        guard case .refused = reason?.reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    @Test func subscribingAgainWhileTheEndIsUnderWayWorks() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        for number in UInt8(1)...5 {
            let values = try await fixture.run {
                async let values = Self.values(1, of: gadget)
                try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
                device.notify("FFF1", value: Data([number]))
                return try await values
            }
            #expect(values == [Data([number])])
        }
    }

    @Test func aSequenceThatBeginsWhileTheEndIsUnderWayEndsWithAllOthers() async throws {
        // The air has latencies here: the end takes time.
        let fixture = Fixture(Emulator(time: .virtual))
        let (device, gadget) = try await fixture.find(.gadget)
        let values = try await fixture.run {
            _ = try await gadget.subscribe(to: "FFF0/FFF1")
            async let values = Self.values(1, of: gadget)
            try await fixture.emulator.swiftClock.sleep(for: .milliseconds(1))
            try await gadget.unsubscribe(from: "FFF0/FFF1")
            return try await values
        }
        #expect(values == [])
        #expect(fixture.count(of: "enabled=true") == 1, "it joined the subscription that ended")
        #expect(device.connectionCount == 1)
    }
}
