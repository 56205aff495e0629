import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import LogCapture
import Logging
import Testing

@Suite(.emulator(.instant)) struct BufferingTests {
    /// Returns the values that a late consumer receives of five.
    private static func late(
        _ policy: BufferingPolicy, _ fixture: Fixture
    ) async throws -> (values: [UInt8], dropped: Int, error: BluetoothError?) {
        let (device, gadget) = try await fixture.find(.gadget)
        return try await fixture.run {
            let sequence = try await gadget.subscribe(to: "FFF0/FFF1", buffering: policy)
            for number in UInt8(1)...5 { device.notify("FFF1", value: Data([number])) }
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            var iterator = sequence.makeAsyncIterator()
            let dropped = iterator.droppedCount
            var values: [UInt8] = []
            do {
                while values.count < 5 - dropped, let value = try await iterator.next() { values += [UInt8](value) }
                return (values, dropped, nil)
            } catch let error as BluetoothError {
                return (values, dropped, error)
            }
        }
    }

    @Test func theNewestAreKeptAndTheOthersCounted() async throws {
        let late = try await Self.late(.newest(2), Fixture())
        #expect(late.values == [4, 5])
        #expect(late.dropped == 3)
    }

    @Test func theOldestAreKeptAndTheOthersCounted() async throws {
        let late = try await Self.late(.oldest(2), Fixture())
        #expect(late.values == [1, 2])
        #expect(late.dropped == 3)
    }

    @Test func aSequenceThatMayLoseNothingEndsBehindWhatItKept() async throws {
        let late = try await Self.late(.failing(beyond: 2), Fixture())
        #expect(late.values == [1, 2])
        guard case .bufferOverflow(limit: 2) = late.error?.reason else {
            Issue.record("\(String(describing: late.error))")
            return
        }
        #expect(late.error?.peerName == "Gadget")
    }

    @Test func withoutAPolicyTheNewest1024AreKept() async throws {
        let fixture = Fixture()
        let (device, gadget) = try await fixture.find(.gadget)
        let dropped = try await fixture.run {
            let sequence = try await gadget.subscribe(to: "FFF0/FFF1")
            for _ in 0..<1_030 {
                device.notify("FFF1", value: Data([1]))
                try await fixture.emulator.swiftClock.sleep(for: .milliseconds(100))
            }
            return sequence.makeAsyncIterator().droppedCount
        }
        #expect(dropped == 6)
    }

    @Test func theFirstLossIsLoggedOnceWithTheDevice() async throws {
        LogCapture.start()
        let fixture = Fixture()
        var description = PeripheralDescription.gadget
        description.name = "Overflowing"
        description.advertising = [
            AdvertisingDescription(AdvertisingData(localName: "Overflowing", services: ["FFF0"]))
        ]
        let (device, gadget) = try await fixture.find(description)
        try await fixture.run {
            let sequence = try await gadget.subscribe(to: "FFF0/FFF1", buffering: .newest(1))
            for number in UInt8(1)...5 { device.notify("FFF1", value: Data([number])) }
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            withExtendedLifetime(sequence) {}
        }
        let lines = LogCapture.lines(containing: "of Overflowing (").filter { $0.contains("slow consumer") }
        #expect(lines.count == 1, "\(lines)")
        #expect(lines.first?.hasPrefix("AsyncBluetooth warning") == true)
    }

    @Test func aScanForWhichThereWasNoRoomFindsTheDeviceLater() async throws {
        let fixture = Fixture()
        for number in 1...5 {
            try fixture.emulator.add(
                PeripheralDescription(
                    name: "Lamp \(number)",
                    advertising: [AdvertisingDescription(AdvertisingData(localName: "Lamp \(number)"))]))
        }
        let central = fixture.makeCentral()
        let names = try await fixture.run { () -> Set<String> in
            var devices = central.scan(buffering: .newest(2)).makeAsyncIterator()
            // All devices advertise several times in the meantime.
            try await fixture.emulator.swiftClock.sleep(for: .seconds(5))
            #expect(devices.droppedCount > 0)
            var names: Set<String> = []
            while names.count < 5, let device = try await devices.next() {
                names.insert(device.advertisement.localName ?? "")
            }
            return names
        }
        #expect(names == Set((1...5).map { "Lamp \($0)" }))
    }

    @Test func theAppsLoggerGetsTheLinesOfItsCentral() async throws {
        LogCapture.start()
        let fixture = Fixture()
        var logger = Logger(label: "gateway.hci0")
        logger[metadataKey: "adapter"] = "hci0"
        let central = Central(backend: .emulator(fixture.emulator), settings: .init(logger: logger))
        try await fixture.run { try await central.waitUntilPoweredOn() }
        #expect(LogCapture.lines(containing: "gateway.hci0 debug Bluetooth is poweredOn").count == 1)
    }
}
