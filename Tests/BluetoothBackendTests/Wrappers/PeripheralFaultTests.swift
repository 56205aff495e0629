import BluetoothBackend
import BluetoothInstrumentation
import FoundationEssentials
import Testing

/// Faults of the peripheral role.
struct PeripheralFaultTests {
    private struct Fixture {
        let radio = TestRadio()
        let sink = TestSink<PeripheralEvent>()
        let backend: FaultInjectingBackend
        let manager: any PeripheralBackend

        init(_ faults: Fault...) throws {
            backend = try FaultInjectingBackend(around: radio, plan: FaultPlan(faults: faults))
            manager = backend.makePeripheral(PeripheralOptions())
            manager.activate(sink)
        }

        var role: TestRole<PeripheralCommand, PeripheralEvent> { radio.peripheral.role }
    }

    private let read = PeripheralEvent.readRequested(
        request: Samples.request, central: Samples.peer, attribute: Samples.attribute, offset: 0, mtu: 23)

    private func update(_ byte: UInt8) -> PeripheralCommand {
        .updateValue(attribute: Samples.attribute, value: Data([byte]), centrals: nil)
    }

    @Test func withoutAFaultAllPasses() throws {
        let fixture = try Fixture()
        for command in Samples.peripheralCommands { fixture.manager.submit(command) }
        #expect(fixture.role.take() == Samples.peripheralCommands)
        for event in Samples.peripheralEvents { fixture.role.tell(event) }
        #expect(fixture.sink.take() == Samples.peripheralEvents)
        fixture.manager.invalidate()
        #expect(fixture.role.isInvalidated)
    }

    @Test func aFailedCommandIsAnsweredAndDoesNotReachTheRadio() throws {
        let fixture = try Fixture(
            Fault(FaultPlace(.peripheralCommand(.startAdvertising)), .once, .error(Samples.error)))
        fixture.manager.submit(.startAdvertising(operation: Samples.operation, advertisement: Advertisement()))
        #expect(fixture.role.take().isEmpty)
        #expect(fixture.sink.take() == [.operationFailed(operation: Samples.operation, error: Samples.error)])
    }

    @Test func aPublishedCharacteristicIsKnown() throws {
        let fixture = try Fixture(
            Fault(FaultPlace(.peripheralCommand(.updateValue), characteristic: "2A37"), .nth(number: 2), .drop))
        fixture.manager.submit(.addService(operation: Samples.operation, service: Samples.definition))
        _ = fixture.role.take()
        for byte in 1...3 { fixture.manager.submit(update(UInt8(byte))) }
        #expect(fixture.role.take() == [update(1), update(3)])
    }

    @Test func anAnswerIsKnownByItsRequest() throws {
        let fixture = try Fixture(
            Fault(FaultPlace(.peripheralCommand(.respond), peer: Samples.otherPeer), .once, .drop))
        let answer = PeripheralCommand.respond(request: Samples.request, attCode: 0, value: Data([1]))
        fixture.role.tell(read)
        #expect(fixture.sink.take() == [read])
        fixture.manager.submit(answer)
        #expect(fixture.role.take() == [answer])
    }

    @Test func whatFollowsADelayedEventOfACentralWaitsBehindIt() throws {
        let fixture = try Fixture(Fault(FaultPlace(.peripheralEvent(.readRequested)), .once, .delay(by: .seconds(1))))
        let own = PeripheralEvent.notifyCredits(central: Samples.peer, count: 1)
        let other = PeripheralEvent.notifyCredits(central: Samples.otherPeer, count: 1)
        fixture.role.tell(read, own, .requestExpired(request: Samples.request), other)
        #expect(fixture.sink.take() == [other])
        #expect(fixture.backend.heldBack == 3)
        fixture.radio.testClock.advance(by: .seconds(1))
        #expect(fixture.sink.take() == [read, own, .requestExpired(request: Samples.request)])
    }

    @Test func pairingPassesAsItIs() throws {
        let fixture = try Fixture()
        #expect(fixture.backend.makePairing() === fixture.radio.pairing)
    }
}
