import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Logging
import Testing

@Suite(.emulator(.instant)) struct ScanTests {
    private func add(_ emulator: Emulator, _ name: String, _ service: String) throws {
        try emulator.add(
            PeripheralDescription(
                name: name,
                advertising: [
                    AdvertisingDescription(AdvertisingData(localName: name, services: [.init(stringLiteral: service)]))
                ]))
    }

    @Test func aScanDeliversTypedAdvertisementsAndStopsWithItsConsumer() async throws {
        let fixture = Fixture()
        try add(fixture.emulator, "Lamp", "FFE0")
        let central = fixture.makeCentral()
        let found = try await fixture.run {
            for try await found in central.scan(for: [CBUUID(string: "FFE0")]) { return found }
            throw CancellationError()
        }
        #expect(found.advertisement.localName == "Lamp")
        #expect(found.advertisement.serviceUUIDs == [CBUUID(string: "FFE0")])
        #expect(found.advertisement.isConnectable == true)
        #expect((-100 ... -20).contains(try #require(found.rssi)))
        #expect(fixture.count(of: "startScan") == 1)
        #expect(fixture.count(of: "stopScan") == 1)
    }

    @Test func scansAtOnceAreMergedAndEachGetsItsOwn() async throws {
        let fixture = Fixture()
        for (name, service) in [("Lamp", "FFE0"), ("Shoe", "1814"), ("Cup", "FFC0")] {
            try add(fixture.emulator, name, service)
        }
        let central = fixture.makeCentral()
        let names = try await fixture.run {
            async let lamps = Self.names(central.scan(for: [CBUUID(string: "FFE0")]), fixture)
            async let shoes = Self.names(central.scan(for: [CBUUID(string: "1814")]), fixture)
            return [try await lamps, try await shoes]
        }
        #expect(names == [["Lamp"], ["Shoe"]])
        #expect(fixture.count(of: "stopScan") == 1)
    }

    /// Returns the names that a scan finds within ten seconds.
    private static func names(_ scan: ValueSequence<DiscoveredPeripheral>, _ fixture: Fixture) async throws -> [String]
    {
        let found = Log<String>()
        do {
            try await withTimeout(.seconds(10), clock: fixture.emulator.swiftClock) {
                for try await one in scan { found.append(one.advertisement.localName ?? "") }
            }
        } catch let error as BluetoothError {
            guard case .timedOut = error.reason else { throw error }
        }
        return found.values
    }

    @Test func duplicatesComeOnlyToTheConsumerThatAsksForThem() async throws {
        let fixture = Fixture()
        try add(fixture.emulator, "Lamp", "FFE0")
        let central = fixture.makeCentral()
        let counts = try await fixture.run {
            async let all = Self.names(central.scan(allowDuplicates: true), fixture)
            async let new = Self.names(central.scan(), fixture)
            return [try await all.count, try await new.count]
        }
        #expect(counts[0] > 10)
        #expect(counts[1] == 1)
    }

    @Test func aScanFailsWhenTheAdapterIsSwitchedOff() async throws {
        let fixture = Fixture()
        let central = fixture.makeCentral()
        let reason = try await fixture.run { () -> BluetoothError.Reason? in
            async let end: Void = { for try await _ in central.scan() {} }()
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            fixture.emulator.host.setPower(false)
            do {
                try await end
                return nil
            } catch let error as BluetoothError {
                return error.reason
            }
        }
        guard case .unavailable(.poweredOff) = reason else {
            Issue.record("\(String(describing: reason))")
            return
        }
    }

    @Test func aScanGoesOnAfterAReset() async throws {
        let fixture = Fixture()
        let central = fixture.makeCentral()
        let name = try await fixture.run {
            async let first = Fixture.first(central)
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            fixture.emulator.host.reset(for: .seconds(2))
            try await fixture.emulator.swiftClock.sleep(for: .seconds(1))
            try add(fixture.emulator, "Lamp", "FFE0")
            return try await first.name
        }
        #expect(name == "Lamp")
        #expect(fixture.count(of: "startScan") == 2)
    }

    @Test func statesComeInOrderFromTheFirst() async throws {
        let fixture = Fixture()
        let central = fixture.makeCentral()
        let states = try await fixture.run {
            var states: [CBManagerState] = []
            for await state in central.states {
                states.append(state)
                if state == .poweredOn { fixture.emulator.host.setPower(false) }
                if state == .poweredOff { break }
            }
            return states
        }
        // The adapter may have reported its state before the sequence began.
        #expect(states.drop { $0 == .unknown } == [.poweredOn, .poweredOff])
    }

    @Test func whoHasSeenAStateReadsNoOlderOne() async throws {
        let fixture = Fixture()
        let reader = Lock<EventSequence<CBManagerState>.AsyncIterator?>(nil)
        let reading = Lock<Central?>(nil)
        // The line is logged between the change of the state and its event.
        let logger = Logger(label: "states") { _ in
            LineHandler { line in
                guard line == "Bluetooth is poweredOn" else { return }
                reader.withLock { $0 = reading.withLock { $0 }?.states.makeAsyncIterator() }
            }
        }
        let central = Central(backend: .emulator(fixture.emulator), settings: .init(logger: logger))
        reading.withLock { $0 = central }
        try await fixture.run { try await central.waitUntilPoweredOn() }
        var iterator = try #require(reader.withLock { $0.take() })
        #expect(await iterator.next() == .poweredOn)
        reading.withLock { $0 = nil }
    }

    @Test func aDeviceThatIsKnownIsFoundByItsIdentifier() async throws {
        let fixture = Fixture()
        let (_, gadget) = try await fixture.find(.gadget)
        let identifier = gadget.identifier
        let central = fixture.makeCentral()
        let name = try await fixture.run { try await central.peripheral(identifier: identifier).name }
        #expect(name == "Gadget")
    }

    @Test func aSecondScanOfTheSameDevicesFindsThemAgain() async throws {
        let fixture = Fixture()
        try add(fixture.emulator, "Lamp", "FFE0")
        let central = fixture.makeCentral()
        let names = try await fixture.run {
            async let first = Self.names(central.scan(), fixture)
            try await fixture.emulator.swiftClock.sleep(for: .seconds(3))
            async let second = Self.names(central.scan(), fixture)
            return [try await first, try await second]
        }
        #expect(names == [["Lamp"], ["Lamp"]])
    }
}

/// A log handler that calls a closure with each line.
private struct LineHandler: LogHandler {
    let onLine: @Sendable (String) -> Void
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    init(onLine: @escaping @Sendable (String) -> Void) { self.onLine = onLine }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { onLine("\(event.message)") }
}
