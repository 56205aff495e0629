import BluetoothBackend
import FoundationEssentials
import Testing

/// Faults of the peripheral role.
struct PeripheralFaultTests {
    private struct Stage {
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
        let stage = try Stage()
        for command in Samples.peripheralCommands { stage.manager.submit(command) }
        #expect(stage.role.take() == Samples.peripheralCommands)
        for event in Samples.peripheralEvents { stage.role.tell(event) }
        #expect(stage.sink.take() == Samples.peripheralEvents)
        stage.manager.invalidate()
        #expect(stage.role.isInvalidated)
    }

    @Test func aFailedCommandIsAnsweredAndDoesNotReachTheRadio() throws {
        let stage = try Stage(Fault(FaultPlace(.peripheralCommand(.startAdvertising)), .once, .error(Samples.error)))
        stage.manager.submit(.startAdvertising(operation: Samples.operation, advertisement: Advertisement()))
        #expect(stage.role.take().isEmpty)
        #expect(stage.sink.take() == [.operationFailed(operation: Samples.operation, error: Samples.error)])
    }

    @Test func aPublishedCharacteristicIsKnown() throws {
        let stage = try Stage(
            Fault(FaultPlace(.peripheralCommand(.updateValue), characteristic: "2A37"), .nth(number: 2), .drop))
        stage.manager.submit(.addService(operation: Samples.operation, service: Samples.definition))
        _ = stage.role.take()
        for byte in 1...3 { stage.manager.submit(update(UInt8(byte))) }
        #expect(stage.role.take() == [update(1), update(3)])
    }

    @Test func anAnswerIsKnownByItsRequest() throws {
        let stage = try Stage(Fault(FaultPlace(.peripheralCommand(.respond), peer: Samples.otherPeer), .once, .drop))
        let answer = PeripheralCommand.respond(request: Samples.request, attCode: 0, value: Data([1]))
        stage.role.tell(read)
        #expect(stage.sink.take() == [read])
        stage.manager.submit(answer)
        #expect(stage.role.take() == [answer])
    }

    @Test func whatFollowsADelayedEventOfACentralWaitsBehindIt() throws {
        let stage = try Stage(Fault(FaultPlace(.peripheralEvent(.readRequested)), .once, .delay(by: .seconds(1))))
        let own = PeripheralEvent.notifyCredits(central: Samples.peer, count: 1)
        let other = PeripheralEvent.notifyCredits(central: Samples.otherPeer, count: 1)
        stage.role.tell(read, own, .requestExpired(request: Samples.request), other)
        #expect(stage.sink.take() == [other])
        #expect(stage.backend.heldBack == 3)
        stage.radio.testClock.advance(by: .seconds(1))
        #expect(stage.sink.take() == [read, own, .requestExpired(request: Samples.request)])
    }

    @Test func pairingPassesAsItIs() throws {
        let stage = try Stage()
        #expect(stage.backend.makePairing() === stage.radio.pairing)
    }
}
