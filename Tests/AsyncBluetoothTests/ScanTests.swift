import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
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

    @Test func aScanTellsTypedAdvertisementsAndStopsWithItsConsumer() async throws {
        let stage = Stage()
        try add(stage.emulator, "Lamp", "FFE0")
        let central = stage.makeCentral()
        let found = try await stage.play {
            for try await found in central.scan(for: [CBUUID(string: "FFE0")]) { return found }
            throw CancellationError()
        }
        #expect(found.advertisement.localName == "Lamp")
        #expect(found.advertisement.serviceUUIDs == [CBUUID(string: "FFE0")])
        #expect(found.advertisement.isConnectable == true)
        #expect((-100 ... -20).contains(try #require(found.rssi)))
        #expect(stage.count(of: "startScan") == 1)
        #expect(stage.count(of: "stopScan") == 1)
    }

    @Test func scansAtOnceAreMergedAndEachGetsItsOwn() async throws {
        let stage = Stage()
        for (name, service) in [("Lamp", "FFE0"), ("Shoe", "1814"), ("Cup", "FFC0")] {
            try add(stage.emulator, name, service)
        }
        let central = stage.makeCentral()
        let names = try await stage.play {
            async let lamps = Self.names(central.scan(for: [CBUUID(string: "FFE0")]), stage)
            async let shoes = Self.names(central.scan(for: [CBUUID(string: "1814")]), stage)
            return [try await lamps, try await shoes]
        }
        #expect(names == [["Lamp"], ["Shoe"]])
        #expect(stage.count(of: "stopScan") == 1)
    }

    /// What a scan finds within ten seconds.
    private static func names(_ scan: ValueSequence<DiscoveredPeripheral>, _ stage: Stage) async throws -> [String] {
        let found = Log<String>()
        do {
            try await withTimeout(.seconds(10), clock: stage.emulator.swiftClock) {
                for try await one in scan { found.append(one.advertisement.localName ?? "") }
            }
        } catch let error as BluetoothError {
            guard case .timedOut = error.reason else { throw error }
        }
        return found.values
    }

    @Test func duplicatesComeOnlyToTheConsumerThatAsksForThem() async throws {
        let stage = Stage()
        try add(stage.emulator, "Lamp", "FFE0")
        let central = stage.makeCentral()
        let counts = try await stage.play {
            async let all = Self.names(central.scan(allowDuplicates: true), stage)
            async let new = Self.names(central.scan(), stage)
            return [try await all.count, try await new.count]
        }
        #expect(counts[0] > 10)
        #expect(counts[1] == 1)
    }

    @Test func aScanFailsWhenTheAdapterIsSwitchedOff() async throws {
        let stage = Stage()
        let central = stage.makeCentral()
        let reason = try await stage.play { () -> BluetoothError.Reason? in
            async let end: Void = { for try await _ in central.scan() {} }()
            try await stage.emulator.swiftClock.sleep(for: .seconds(1))
            stage.emulator.host.setPower(false)
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
        let stage = Stage()
        let central = stage.makeCentral()
        let name = try await stage.play {
            async let first = Stage.first(central)
            try await stage.emulator.swiftClock.sleep(for: .seconds(1))
            stage.emulator.host.reset(for: .seconds(2))
            try await stage.emulator.swiftClock.sleep(for: .seconds(1))
            try add(stage.emulator, "Lamp", "FFE0")
            return try await first.name
        }
        #expect(name == "Lamp")
        #expect(stage.count(of: "startScan") == 2)
    }

    @Test func statesComeInOrderFromTheFirst() async throws {
        let stage = Stage()
        let central = stage.makeCentral()
        let states = try await stage.play {
            var states: [CBManagerState] = []
            for await state in central.states {
                states.append(state)
                if state == .poweredOn { stage.emulator.host.setPower(false) }
                if state == .poweredOff { break }
            }
            return states
        }
        // The adapter may have told its state before the sequence began.
        #expect(states.drop { $0 == .unknown } == [.poweredOn, .poweredOff])
    }

    @Test func aDeviceThatIsKnownIsFoundByItsIdentifier() async throws {
        let stage = Stage()
        let (_, gadget) = try await stage.find(.gadget)
        let identifier = gadget.identifier
        let central = stage.makeCentral()
        let name = try await stage.play { try await central.peripheral(identifier: identifier).name }
        #expect(name == "Gadget")
    }

    @Test func aSecondScanOfTheSameDevicesFindsThemAgain() async throws {
        let stage = Stage()
        try add(stage.emulator, "Lamp", "FFE0")
        let central = stage.makeCentral()
        let names = try await stage.play {
            async let first = Self.names(central.scan(), stage)
            try await stage.emulator.swiftClock.sleep(for: .seconds(3))
            async let second = Self.names(central.scan(), stage)
            return [try await first, try await second]
        }
        #expect(names == [["Lamp"], ["Lamp"]])
    }
}
