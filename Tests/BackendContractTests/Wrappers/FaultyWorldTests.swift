import BluetoothBackend
import BluetoothEmulator
import BluetoothInstrumentation
import CoreBluetooth
import Testing

/// Faults around the emulator, as an app experiences them.
@Suite struct FaultyWorldTests {
    private func place(_ kind: CentralCommand.Kind, _ attribute: ContractAttribute? = nil) -> FaultPlace {
        FaultPlace(.centralCommand(kind), characteristic: attribute.map(ContractDevices.uuid))
    }

    private func place(_ kind: CentralEvent.Kind, _ attribute: ContractAttribute? = nil) -> FaultPlace {
        FaultPlace(.centralEvent(kind), characteristic: attribute.map(ContractDevices.uuid))
    }

    // MARK: Time

    @Test func aDelayedAnswerTakesVirtualTimeAndWhatFollowsWaitsBehindIt() async throws {
        let world = try FaultyWorld(Fault(place(.valueRead), .nth(number: 2), .delay(by: .seconds(5))))
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        let store = try service.characteristic(.stored)
        for _ in 0..<2 { peripheral.readValue(for: store) }
        peripheral.readValue(for: try service.characteristic(.readOnly))
        #expect(try await world.time(of: .didUpdateValue(.stored, Data("hello".utf8))) < .seconds(1))
        try await world.emulator.advance(by: .seconds(1))
        #expect(world.faults.heldBack == 2)
        let time = try await world.time(
            of: .didUpdateValue(.stored, Data("hello".utf8)), .didUpdateValue(.readOnly, [0x0A]))
        #expect(time > .seconds(3) && time <= .seconds(5))
        #expect(world.faults.heldBack == 0)
        world.context.finish()
    }

    @Test func distinguishedWrappersShowTheDelayToTheNanosecond() async throws {
        let world = try FaultyWorld(Fault(place(.valueRead), .once, .delay(by: .milliseconds(1234))))
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        peripheral.readValue(for: try service.characteristic(.readOnly))
        try await world.context.expect(.didUpdateValue(.readOnly, [0x0A]))
        let inside = try #require(world.inside.entries.first { $0.text.hasPrefix("valueRead") })
        let outside = try #require(world.outside.entries.first { $0.text.hasPrefix("valueRead") })
        #expect(outside.time - inside.time == .milliseconds(1234))
        #expect(inside.text == outside.text)
    }

    @Test func aDelayedCommandReachesThePeerLater() async throws {
        let world = try FaultyWorld(Fault(place(.writeCommand), .once, .delay(by: .seconds(2))))
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        peripheral.writeValue(Data([1]), for: try service.characteristic(.commands), type: .withoutResponse)
        try await world.emulator.advance(by: .milliseconds(1900))
        #expect(try await world.context.perform(.commands).values == [])
        try await world.context.roundTrip(peripheral, service.characteristic(.readOnly))
        #expect(try await world.context.perform(.commands).values == [Data([1])])
    }

    @Test func whatIsHeldBackIsOwedByTheClockSoThatAnIdleWorldHasReportedIt() async throws {
        let world = try FaultyWorld(Fault(place(.valueRead), .once, .delay(by: .seconds(600))))
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        peripheral.readValue(for: try service.characteristic(.readOnly))
        #expect(!world.emulator.isIdle)
        let start = world.emulator.now
        try await world.emulator.runUntilIdle()
        #expect(world.events.last == .didUpdateValue(.readOnly, [0x0A]))
        #expect(world.emulator.now - start >= .seconds(600))
    }

    @Test func aHoldOfTimeKeepsDelaysFromEnding() async throws {
        let world = try FaultyWorld(Fault(place(.valueRead), .once, .delay(by: .seconds(1))))
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        peripheral.readValue(for: try service.characteristic(.readOnly))
        try await world.emulator.advance(by: .milliseconds(500))
        let hold = world.emulator.hold()
        let (emulator, now) = (world.emulator, world.emulator.now)
        async let driven: Void = emulator.advance(by: .seconds(1))
        #expect(world.faults.heldBack == 1 && emulator.now == now)
        hold.release()
        try await driven
        #expect(world.faults.heldBack == 0 && world.events.last == .didUpdateValue(.readOnly, [0x0A]))
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
        let world = try FaultyWorld(Fault(place(.write, .stored), .nth(number: 2), .error(error)))
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        let store = try service.characteristic(.stored)
        peripheral.writeValue(Data([0]), for: try service.characteristic(.writeOnly), type: .withResponse)
        for byte in UInt8(1)...3 { peripheral.writeValue(Data([byte]), for: store, type: .withResponse) }
        try await world.context.expect(
            .didWriteValue(.writeOnly), .didWriteValue(.stored), .didWriteValue(.stored).failing(att: .number(0x80)),
            .didWriteValue(.stored))
        let writes = world.inside.entries.filter { $0.text.hasPrefix("write ") }
        #expect(writes.count == 3)
        #expect(try await world.context.perform(.value(.stored)).value == Data([3]))
    }

    @Test func aConnectFailsOnceAndThenSucceeds() async throws {
        let error = BackendError(.connectionLimitReached, operation: "connect")
        let world = try FaultyWorld(Fault(place(.connect), .once, .error(error)))
        let peripheral = try await world.context.find()
        world.context.manager.connect(peripheral)
        try await world.context.expect(.didFailToConnect().failing(.connectionLimitReached))
        try await world.context.connect(peripheral)
    }

    // MARK: Loss

    @Test func aLostAnswerIsNeverReportedAndTheLinkGoesOn() async throws {
        let world = try FaultyWorld(Fault(place(.written), .once, .drop))
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        let store = try service.characteristic(.stored)
        peripheral.writeValue(Data([7]), for: store, type: .withResponse)
        peripheral.readValue(for: store)
        try await world.context.expect(.didUpdateValue(.stored, [7]))
        try await world.emulator.runUntilIdle()
        world.context.finish()
    }

    @Test func aRateOfLossFollowsItsSeed() async throws {
        func received(seed: UInt64) async throws -> [ContractEvent] {
            let world = try FaultyWorld(seed: seed, Fault(place(.valueNotified), .rate(probability: 0.5), .drop))
            let (peripheral, service) = try await world.context.connect(discovering: .main)
            try await world.context.subscribe(to: service.characteristic(.notifying), of: peripheral)
            let before = world.events.count
            for byte in UInt8(0)..<100 { try await world.context.perform(.notify(.notifying, [byte])) }
            try await world.emulator.runUntilIdle()
            return Array(world.events.dropFirst(before))
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
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        let notifying = try service.characteristic(.notifying)
        try await world.context.subscribe(to: notifying, of: peripheral)
        for byte in UInt8(1)...2 { try await world.context.perform(.notify(.notifying, [byte])) }
        try await world.context.expect(
            .didUpdateValue(.notifying, [1]), .didUpdateValue(.notifying, [1]), .didUpdateValue(.notifying, [2]))
        let read = try service.characteristic(.readOnly)
        peripheral.readValue(for: read)
        try await world.context.skip(.didUpdateValue(.readOnly))
        #expect(try (#require(read.value?.first) ^ 0x0A).nonzeroBitCount == 1)
    }

    // MARK: Ends of links

    @Test func aLinkEndsForThePlansReasonAndCanBeMadeAgain() async throws {
        let world = try FaultyWorld(Fault(place(.read), .nth(number: 2), .disconnect(reason: .timeout)))
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        try await world.context.roundTrip(peripheral, service.characteristic(.readOnly))
        for _ in 0..<2 { peripheral.readValue(for: try service.characteristic(.readOnly)) }
        try await world.context.expect(.didDisconnect().failing(.connectionTimeout))
        try await world.emulator.runUntilIdle()
        #expect(try await world.context.perform(.connections).count == 0)
        try await world.context.connect(peripheral)
        let again = try await world.context.discover(.main, of: peripheral)
        try await world.context.roundTrip(peripheral, again.characteristic(.readOnly))
        world.context.finish()
    }

    @Test func aWriteIsPerformedAndItsAnswerIsLostWithTheLink() async throws {
        let world = try FaultyWorld(Fault(place(.written), .once, .disconnect(reason: .timeout)))
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        peripheral.writeValue(Data([7]), for: try service.characteristic(.stored), type: .withResponse)
        try await world.context.expect(.didDisconnect().failing(.connectionTimeout))
        #expect(try await world.context.perform(.value(.stored)).value == Data([7]))
        world.context.finish()
    }

    @Test func whatIsHeldBackEndsWithThePower() async throws {
        let world = try FaultyWorld(Fault(place(.valueRead), .once, .delay(by: .seconds(5))))
        let (peripheral, service) = try await world.context.connect(discovering: .main)
        peripheral.readValue(for: try service.characteristic(.readOnly))
        try await world.emulator.advance(by: .seconds(1))
        #expect(world.faults.heldBack == 1)
        try await world.context.perform(.adapter(isPowered: false))
        #expect(world.context.trace.states.last == .poweredOff)
        #expect(world.faults.heldBack == 0)
        try await world.emulator.runUntilIdle()
        world.context.finish()
    }
}
