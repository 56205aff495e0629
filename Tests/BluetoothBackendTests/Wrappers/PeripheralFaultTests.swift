import BluetoothBackend
import BluetoothInstrumentation
import FoundationEssentials
import Testing

/// Faults of the peripheral role.
struct PeripheralFaultTests {
    private struct Fixture {
        let base = TestBackend()
        let sink = TestSink<PeripheralEvent>()
        let backend: FaultInjectingBackend
        let manager: any PeripheralBackend

        init(_ faults: Fault...) throws {
            backend = try FaultInjectingBackend(around: base, plan: FaultPlan(faults: faults))
            manager = backend.makePeripheral(RoleOptions())
            manager.activate(sink)
        }

        var role: TestRole<PeripheralCommand, PeripheralEvent> { base.peripheral.role }
    }

    private let read = PeripheralEvent.readRequested(
        request: Samples.request, central: Samples.peer, attribute: Samples.attribute, offset: 0, mtu: 23)

    private func update(_ byte: UInt8) -> PeripheralCommand {
        .updateValue(attribute: Samples.attribute, value: Data([byte]), centrals: nil)
    }

    @Test func withoutAFaultAllPasses() throws {
        let fixture = try Fixture()
        for command in Samples.peripheralCommands { fixture.manager.submit(command) }
        #expect(fixture.role.takeCommands() == Samples.peripheralCommands)
        for event in Samples.peripheralEvents { fixture.role.deliver(event) }
        #expect(fixture.sink.takeEvents() == Samples.peripheralEvents)
        fixture.manager.invalidate()
        #expect(fixture.role.isInvalidated)
    }

    @Test func aFailedCommandIsAnsweredAndDoesNotReachTheBackend() throws {
        let fixture = try Fixture(
            Fault(FaultPlace(.peripheralCommand(.startAdvertising)), .once, .error(Samples.error)))
        fixture.manager.submit(.startAdvertising(operation: Samples.operation, advertisement: Advertisement()))
        #expect(fixture.role.takeCommands().isEmpty)
        #expect(fixture.sink.takeEvents() == [.operationFailed(operation: Samples.operation, error: Samples.error)])
    }

    @Test func aPublishedCharacteristicIsKnown() throws {
        let fixture = try Fixture(
            Fault(FaultPlace(.peripheralCommand(.updateValue), characteristic: "2A37"), .nth(number: 2), .drop))
        fixture.manager.submit(.addService(operation: Samples.operation, service: Samples.definition))
        _ = fixture.role.takeCommands()
        for byte in 1...3 { fixture.manager.submit(update(UInt8(byte))) }
        #expect(fixture.role.takeCommands() == [update(1), update(3)])
    }

    @Test func anAnswerIsKnownByItsRequest() throws {
        let fixture = try Fixture(
            Fault(FaultPlace(.peripheralCommand(.respond), peer: Samples.otherPeer), .once, .drop))
        let answer = PeripheralCommand.respond(request: Samples.request, attCode: 0, value: Data([1]))
        fixture.role.deliver(read)
        #expect(fixture.sink.takeEvents() == [read])
        fixture.manager.submit(answer)
        #expect(fixture.role.takeCommands() == [answer])
    }

    @Test func whatFollowsADelayedEventOfACentralWaitsBehindIt() throws {
        let fixture = try Fixture(Fault(FaultPlace(.peripheralEvent(.readRequested)), .once, .delay(by: .seconds(1))))
        let own = PeripheralEvent.notifyCredits(central: Samples.peer, count: 1)
        let other = PeripheralEvent.notifyCredits(central: Samples.otherPeer, count: 1)
        fixture.role.deliver(read, own, .requestExpired(request: Samples.request), other)
        #expect(fixture.sink.takeEvents() == [other])
        #expect(fixture.backend.heldBack == 3)
        fixture.base.testClock.advance(by: .seconds(1))
        #expect(fixture.sink.takeEvents() == [read, own, .requestExpired(request: Samples.request)])
    }

    @Test func pairingPassesAsItIs() throws {
        let fixture = try Fixture()
        #expect(fixture.backend.makePairing() === fixture.base.pairing)
    }
}
