import BluetoothBackend
import BluetoothEmulator
import BluetoothInstrumentation
import CoreBluetooth
import Testing

/// Faults around the emulated radio, as an app meets them.
@Suite struct FaultyWorldTests {
    private func place(_ kind: CentralCommand.Kind, _ short: String? = nil) -> FaultPlace {
        FaultPlace(.centralCommand(kind), characteristic: short.map(ContractDevices.uuid))
    }

    private func place(_ kind: CentralEvent.Kind, _ short: String? = nil) -> FaultPlace {
        FaultPlace(.centralEvent(kind), characteristic: short.map(ContractDevices.uuid))
    }

    // MARK: Time

    @Test func aDelayedAnswerTakesVirtualTimeAndWhatFollowsWaitsBehindIt() async throws {
        let world = try FaultyWorld(Fault(place(.valueRead), .nth(number: 2), .delay(by: .seconds(5))))
        let (peripheral, service) = try await world.context.connect(discovering: "C0DE0001")
        let store = try service.characteristic("C0DE0101")
        for _ in 0..<2 { peripheral.readValue(for: store) }
        peripheral.readValue(for: try service.characteristic("C0DE010A"))
        #expect(try await world.time(of: "didUpdateValue C0DE0101 68656C6C6F") < .seconds(1))
        try await world.emulator.advance(by: .seconds(1))
        #expect(world.faults.heldBack == 2)
        let time = try await world.time(of: "didUpdateValue C0DE0101 68656C6C6F", "didUpdateValue C0DE010A 0A")
        #expect(time > .seconds(3) && time <= .seconds(5))
        #expect(world.faults.heldBack == 0)
        world.context.finish()
    }

    @Test func theWrappersToldApartShowTheDelayToTheNanosecond() async throws {
        let world = try FaultyWorld(Fault(place(.valueRead), .once, .delay(by: .milliseconds(1234))))
        let (peripheral, service) = try await world.context.connect(discovering: "C0DE0001")
        peripheral.readValue(for: try service.characteristic("C0DE010A"))
        try await world.context.expect("didUpdateValue C0DE010A 0A")
        let inside = try #require(world.inside.entries.first { $0.text.hasPrefix("valueRead") })
        let outside = try #require(world.outside.entries.first { $0.text.hasPrefix("valueRead") })
        #expect(outside.time - inside.time == .milliseconds(1234))
        #expect(inside.text == outside.text)
    }

    @Test func aDelayedCommandReachesThePeerLater() async throws {
        let world = try FaultyWorld(Fault(place(.writeCommand), .once, .delay(by: .seconds(2))))
        let (peripheral, service) = try await world.context.connect(discovering: "C0DE0001")
        peripheral.writeValue(Data([1]), for: try service.characteristic("C0DE0102"), type: .withoutResponse)
        try await world.emulator.advance(by: .milliseconds(1900))
        #expect(try await world.context.perform(.commands).values == [])
        try await world.context.fence(peripheral, service.characteristic("C0DE010A"))
        #expect(try await world.context.perform(.commands).values == [Data([1])])
    }

    @Test func whatIsHeldBackIsOwedByTheClockSoThatAnIdleWorldHasToldIt() async throws {
        let world = try FaultyWorld(Fault(place(.valueRead), .once, .delay(by: .seconds(600))))
        let (peripheral, service) = try await world.context.connect(discovering: "C0DE0001")
        peripheral.readValue(for: try service.characteristic("C0DE010A"))
        #expect(!world.emulator.isIdle)
        let start = world.emulator.now
        try await world.emulator.runUntilIdle()
        #expect(world.lines.last == "didUpdateValue C0DE010A 0A")
        #expect(world.emulator.now - start >= .seconds(600))
    }

    @Test func aHoldOfTimeKeepsDelaysFromEnding() async throws {
        let world = try FaultyWorld(Fault(place(.valueRead), .once, .delay(by: .seconds(1))))
        let (peripheral, service) = try await world.context.connect(discovering: "C0DE0001")
        peripheral.readValue(for: try service.characteristic("C0DE010A"))
        try await world.emulator.advance(by: .milliseconds(500))
        let hold = world.emulator.hold()
        let (emulator, now) = (world.emulator, world.emulator.now)
        async let driven: Void = emulator.advance(by: .seconds(1))
        #expect(world.faults.heldBack == 1 && emulator.now == now)
        hold.release()
        try await driven
        #expect(world.faults.heldBack == 0 && world.lines.last == "didUpdateValue C0DE010A 0A")
    }

    @Test func aFaultFromSomeTimeOnSparesWhatCameBefore() async throws {
        let world = try FaultyWorld(Fault(place(.discovered), .after(time: .seconds(3)), .drop))
        try await world.context.powerOn()
        let options = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        world.context.manager.scanForPeripherals(withServices: nil, options: options)
        try await world.emulator.advance(by: .seconds(2))
        #expect(world.context.trace.sightings.count > 5)
        try await world.emulator.advance(by: .seconds(2))
        world.context.trace.clearSightings()
        try await world.emulator.advance(by: .seconds(5))
        #expect(world.context.trace.sightings.isEmpty)
    }

    // MARK: Errors

    @Test func theNthWriteOfOneCharacteristicFailsAndNeverReachesThePeer() async throws {
        let error = BackendError.att(0x80, operation: "write")
        let world = try FaultyWorld(Fault(place(.write, "C0DE0101"), .nth(number: 2), .error(error)))
        let (peripheral, service) = try await world.context.connect(discovering: "C0DE0001")
        let store = try service.characteristic("C0DE0101")
        peripheral.writeValue(Data([0]), for: try service.characteristic("C0DE0109"), type: .withResponse)
        for byte in UInt8(1)...3 { peripheral.writeValue(Data([byte]), for: store, type: .withResponse) }
        try await world.context.expect(
            "didWriteValue C0DE0109", "didWriteValue C0DE0101", "didWriteValue C0DE0101 ! CBATTError 128",
            "didWriteValue C0DE0101")
        let writes = world.inside.entries.filter { $0.text.hasPrefix("write ") }
        #expect(writes.count == 3)
        #expect(try await world.context.perform(.value("C0DE0101")).value == Data([3]))
    }

    @Test func aConnectFailsOnceAndThenSucceeds() async throws {
        let error = BackendError(.connectionLimitReached, operation: "connect")
        let world = try FaultyWorld(Fault(place(.connect), .once, .error(error)))
        let peripheral = try await world.context.find()
        world.context.manager.connect(peripheral)
        try await world.context.expect("didFailToConnect disconnected ! CBError 11")
        world.context.manager.connect(peripheral)
        try await world.context.expect("didConnect connected")
    }

    // MARK: Loss

    @Test func aLostAnswerIsNeverToldAndTheLinkGoesOn() async throws {
        let world = try FaultyWorld(Fault(place(.written), .once, .drop))
        let (peripheral, service) = try await world.context.connect(discovering: "C0DE0001")
        let store = try service.characteristic("C0DE0101")
        peripheral.writeValue(Data([7]), for: store, type: .withResponse)
        peripheral.readValue(for: store)
        try await world.context.expect("didUpdateValue C0DE0101 07")
        try await world.emulator.runUntilIdle()
        world.context.finish()
    }

    @Test func aRateOfLossFollowsItsSeed() async throws {
        func received(seed: UInt64) async throws -> [String] {
            let world = try FaultyWorld(seed: seed, Fault(place(.valueNotified), .rate(probability: 0.5), .drop))
            let (peripheral, service) = try await world.context.connect(discovering: "C0DE0001")
            peripheral.setNotifyValue(true, for: try service.characteristic("C0DE0103"))
            try await world.context.expect("didUpdateNotificationState C0DE0103 true")
            let before = world.lines.count
            for byte in UInt8(0)..<100 { try await world.context.perform(.notify("C0DE0103", Data([byte]))) }
            try await world.emulator.runUntilIdle()
            return Array(world.lines.dropFirst(before))
        }
        let first = try await received(seed: 1)
        #expect((30...70).contains(first.count), "\(first.count) of 100")
        #expect(try await received(seed: 1) == first)
        #expect(try await received(seed: 2) != first)
    }

    // MARK: Values

    @Test func aNotificationIsRepeatedAndAReadIsCorrupted() async throws {
        let world = try FaultyWorld(
            Fault(place(.valueNotified), .once, .duplicate), Fault(place(.valueRead), .once, .corrupt))
        let (peripheral, service) = try await world.context.connect(discovering: "C0DE0001")
        let notifying = try service.characteristic("C0DE0103")
        peripheral.setNotifyValue(true, for: notifying)
        try await world.context.expect("didUpdateNotificationState C0DE0103 true")
        for byte in UInt8(1)...2 { try await world.context.perform(.notify("C0DE0103", Data([byte]))) }
        try await world.context.expect(
            "didUpdateValue C0DE0103 01", "didUpdateValue C0DE0103 01", "didUpdateValue C0DE0103 02")
        let read = try service.characteristic("C0DE010A")
        peripheral.readValue(for: read)
        try await world.context.skip("didUpdateValue C0DE010A")
        #expect(try (#require(read.value?.first) ^ 0x0A).nonzeroBitCount == 1)
    }

    // MARK: Ends of links

    @Test func aLinkEndsForThePlansReasonAndCanBeMadeAgain() async throws {
        let world = try FaultyWorld(Fault(place(.read), .nth(number: 2), .disconnect(reason: .timeout)))
        let (peripheral, service) = try await world.context.connect(discovering: "C0DE0001")
        try await world.context.fence(peripheral, service.characteristic("C0DE010A"))
        for _ in 0..<2 { peripheral.readValue(for: try service.characteristic("C0DE010A")) }
        try await world.context.expect("didDisconnect disconnected ! CBError 6")
        try await world.emulator.runUntilIdle()
        #expect(try await world.context.perform(.connections).count == 0)
        world.context.manager.connect(peripheral)
        try await world.context.expect("didConnect connected")
        let again = try await world.context.discover("C0DE0001", of: peripheral)
        try await world.context.fence(peripheral, again.characteristic("C0DE010A"))
        world.context.finish()
    }

    @Test func whatIsHeldBackEndsWithThePower() async throws {
        let world = try FaultyWorld(Fault(place(.valueRead), .once, .delay(by: .seconds(5))))
        let (peripheral, service) = try await world.context.connect(discovering: "C0DE0001")
        peripheral.readValue(for: try service.characteristic("C0DE010A"))
        try await world.emulator.advance(by: .seconds(1))
        #expect(world.faults.heldBack == 1)
        try await world.context.perform(.adapter(isPowered: false))
        #expect(world.context.trace.states.last == .poweredOff)
        #expect(world.faults.heldBack == 0)
        try await world.emulator.runUntilIdle()
        world.context.finish()
    }
}
