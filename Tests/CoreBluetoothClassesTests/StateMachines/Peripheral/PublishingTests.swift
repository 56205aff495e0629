import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothClasses

@Suite struct PublishingTests {
    typealias Fixture = PeripheralMachineFixture

    private func error(of effects: [PeripheralEffect]) -> BackendError.Code? {
        for case .refused(_, let error) in effects.completions { return error.code }
        return nil
    }

    @Test func S104_belowPoweredOffTheDatabaseIsCleared() {
        var fixture = Fixture.published()
        let id = fixture.id(100)
        let effects = fixture.machine.handle(.stateChanged(.resetting))
        #expect(effects == [.dropAdditions([]), .thaw(id), .forget(id), .callback(.stateUpdated)])
        #expect(fixture.machine.database.serviceIDs.isEmpty)
        _ = fixture.machine.handle(.stateChanged(.poweredOn))
        #expect(fixture.publish(Fixture.service()).callbacks.count == 1)
        #expect(fixture.id(100) > id)
    }

    @Test func S104_belowPoweredOnTheCentralsAreGone() {
        var fixture = Fixture.published()
        _ = fixture.subscribe()
        _ = fixture.read()
        let effects = fixture.machine.handle(.stateChanged(.poweredOff))
        #expect(effects == [.clearSubscribers(fixture.id()), .dropAdditions([]), .callback(.stateUpdated)])
        #expect(fixture.unsubscribe().isEmpty)
        _ = fixture.machine.handle(.stateChanged(.poweredOn))
        #expect(fixture.respond().misuses == [.notWaiting(Fixture.request)])
        #expect(fixture.update([1]).effects.isEmpty)
    }

    @Test func S105_powerOffKeepsWhatIsPublishedAndAddingItAgainFails() {
        var fixture = Fixture.published()
        _ = fixture.machine.handle(.stateChanged(.poweredOff))
        _ = fixture.machine.handle(.stateChanged(.poweredOn))
        #expect(fixture.read().callbacks.count == 1)
        let again = fixture.machine.add(
            Fixture.service(characteristics: [Fixture.characteristic()]))
        #expect(error(of: again.effects) == .invalidParameters)
        #expect(again.effects.commands.isEmpty)
    }

    /// An answer that a loss of power prevents never arrives: its service is withdrawn on both sides.
    @Test func anAdditionThatPowerOffInterruptsIsTakenBack() {
        var fixture = Fixture.poweredOn()
        let addition = fixture.machine.add(Fixture.service())
        let id = fixture.id(100)
        let effects = fixture.machine.handle(.stateChanged(.poweredOff))
        #expect(
            effects == [
                .submit(.removeService(id)), .thaw(id), .forget(id), .dropAdditions([addition.operation!]),
                .callback(.stateUpdated),
            ])
        #expect(fixture.machine.handle(.serviceAdded(operation: addition.operation!)).isEmpty)
    }

    @Test func S106_answersComeInTheOrderOfTheCallsAlsoThoseThatNeedNoBackend() {
        var fixture = Fixture.poweredOn()
        let first = fixture.machine.add(Fixture.service(1))
        let refused = fixture.machine.add(Fixture.service(2, "1801"))
        let third = fixture.machine.add(Fixture.service(3))
        let completion = refused.effects.completions[0]
        #expect(fixture.machine.handle(completion).isEmpty)
        #expect(fixture.machine.handle(.serviceAdded(operation: third.operation!)).isEmpty)
        let effects = fixture.machine.handle(.serviceAdded(operation: first.operation!))
        #expect(effects.callbacks.count == 3)
        #expect(effects.first == .callback(.added(first.operation!, nil)))
        #expect(effects.last == .callback(.added(third.operation!, nil)))
        #expect(fixture.machine.handle(.serviceAdded(operation: first.operation!)).isEmpty)
    }

    @Test func identifiersAreNeverUsedTwice() {
        var fixture = Fixture.published()
        let old = [fixture.id(100), fixture.id(101)]
        _ = fixture.machine.remove(ObjectKey(rawValue: 100))
        fixture.publish(Fixture.service(characteristics: [Fixture.characteristic()]))
        #expect(fixture.id(100) > old[1])
        #expect(fixture.id(101) > fixture.id(100))
    }

    @Test func S108_aStaticValueIsServedWithoutACallback() {
        let bytes = Data((0..<30).map { UInt8($0) })
        var fixture = Fixture.published(
            Fixture.characteristic(properties: .read, permissions: .readable, value: bytes))
        func answer(_ code: UInt8, _ value: Data?) -> [PeripheralEffect] {
            [.submit(.respond(request: Fixture.request, attCode: code, value: value))]
        }
        #expect(fixture.read() == answer(0, bytes.prefix(22)))
        #expect(fixture.read(offset: 22) == answer(0, Data(bytes.dropFirst(22))))
        #expect(fixture.read(offset: 30) == answer(0, Data()))
        #expect(fixture.read(offset: 31) == answer(7, nil))
        #expect(fixture.write([(101, [1])]) == answer(3, nil))
    }

    @Test func S110_whatIsIncludedMustBePublishedBefore() {
        var fixture = Fixture.poweredOn()
        let early = fixture.machine.add(Fixture.service(1, included: [2]))
        #expect(error(of: early.effects) == .invalidParameters)
        fixture.publish(Fixture.service(2))
        let late = fixture.machine.add(Fixture.service(1, included: [2]))
        #expect(late.definition?.included == [fixture.id(2)])
        let itself = fixture.machine.add(Fixture.service(3, included: [3]))
        #expect(error(of: itself.effects) == .invalidParameters)
    }

    @Test func S110_whatIncludesAFailureFailsToo() {
        var fixture = Fixture.poweredOn()
        let inner = fixture.machine.add(Fixture.service(2))
        let outer = fixture.machine.add(Fixture.service(1, included: [2]))
        let id = fixture.id(1)
        _ = fixture.machine.handle(
            .operationFailed(operation: inner.operation!, error: BackendError(.outOfSpace, operation: "add")))
        let effects = fixture.machine.handle(.serviceAdded(operation: outer.operation!))
        #expect(effects.commands == [.removeService(id)])
        #expect(effects.additionErrors == [.invalidParameters])
        #expect(fixture.machine.database.serviceIDs.isEmpty)
    }

    @Test(arguments: ["180F", "1812"] as [BluetoothUUID])
    func S111_servicesThatOnlyApplesDevicesKeepToThemselvesAreAllowed(uuid: BluetoothUUID) {
        var fixture = Fixture.poweredOn()
        #expect(error(of: fixture.machine.add(Fixture.service(1, uuid)).effects) == nil)
    }

    @Test(arguments: ["1800", "1801"] as [BluetoothUUID])
    func S111_theSystemsOwnServicesAreNotAllowed(uuid: BluetoothUUID) {
        var fixture = Fixture.poweredOn()
        #expect(error(of: fixture.machine.add(Fixture.service(1, uuid)).effects) == .uuidNotAllowed)
        let long = BluetoothUUID(value: uuid.value)
        #expect(error(of: fixture.machine.add(Fixture.service(2, long)).effects) == .uuidNotAllowed)
    }

    @Test func S112_theSameServiceTwiceIsAnErrorAndEqualUUIDsAreNot() {
        var fixture = Fixture.published()
        #expect(error(of: fixture.machine.add(Fixture.service()).effects) == .invalidParameters)
        let twin = fixture.machine.add(Fixture.service(200, characteristics: [Fixture.characteristic(201)]))
        #expect(twin.definition?.uuid == "FFF0")
        #expect(twin.effects.commands.count == 1)
    }

    @Test func S112_aCharacteristicIsInOneServiceOnly() {
        var fixture = Fixture.published()
        let sharing = fixture.machine.add(Fixture.service(200, characteristics: [Fixture.characteristic()]))
        #expect(error(of: sharing.effects) == .invalidParameters)
        let doubled = Fixture.service(300, characteristics: [Fixture.characteristic(301), Fixture.characteristic(301)])
        #expect(doubled.refusal?.code == .invalidParameters)
    }

    @Test func S113_removingWithdrawsAndWhatIsNotPublishedIsNoMatter() {
        var fixture = Fixture.published()
        let id = fixture.id(100)
        #expect(fixture.machine.remove(ObjectKey(rawValue: 7)).isEmpty)
        #expect(fixture.machine.remove(ObjectKey(rawValue: 101)).isEmpty)
        let effects = fixture.machine.remove(ObjectKey(rawValue: 100))
        #expect(effects == [.submit(.removeService(id)), .thaw(id), .complete(.withdrawn([id]))])
        #expect(fixture.machine.remove(ObjectKey(rawValue: 100)).isEmpty)
        #expect(fixture.machine.handle(.withdrawn([id])) == [.forget(id)])
    }

    @Test func S113_anIncludingServiceIsRemovedFirst() {
        var fixture = Fixture.poweredOn()
        fixture.publish(Fixture.service(2, "FFF2"))
        fixture.publish(Fixture.service(1, "FFF1", included: [2]))
        #expect(
            fixture.machine.remove(ObjectKey(rawValue: 2)) == [
                .misuse(.includedByAnother("FFF2", includer: "FFF1"))
            ])
        #expect(fixture.machine.remove(ObjectKey(rawValue: 1)).commands.count == 1)
        #expect(fixture.machine.remove(ObjectKey(rawValue: 2)).commands.count == 1)
    }

    @Test func removingAllServicesWithdrawsEach() {
        var fixture = Fixture.poweredOn()
        fixture.publish(Fixture.service(2))
        fixture.publish(Fixture.service(1, included: [2]))
        let ids = [fixture.id(2), fixture.id(1)]
        let effects = fixture.machine.removeAllServices()
        #expect(
            effects == [.submit(.removeAllServices), .thaw(ids[0]), .thaw(ids[1]), .complete(.withdrawn(ids))])
        #expect(fixture.machine.database.serviceIDs.isEmpty)
    }

    /// A service is removed before its answer arrives: the call of `add` is answered nonetheless.
    @Test func aServiceThatIsRemovedBeforeItsAnswerIsAnswered() {
        var fixture = Fixture.poweredOn()
        let addition = fixture.machine.add(Fixture.service())
        _ = fixture.machine.remove(ObjectKey(rawValue: 100))
        #expect(
            fixture.machine.handle(.serviceAdded(operation: addition.operation!))
                == [.callback(.added(addition.operation!, nil))])
    }

    @Test func S9_nothingIsAcceptedUnlessPoweredOn() {
        var machine = PeripheralStateMachine()
        for state: AdapterState in [.unknown, .resetting, .unsupported, .unauthorized, .poweredOff] {
            _ = machine.handle(.stateChanged(state))
            let misuse: [PeripheralEffect] = [.misuse(.notPoweredOn)]
            #expect(machine.add(Fixture.service()).effects == misuse)
            #expect(machine.remove(ObjectKey(rawValue: 1)) == misuse)
            #expect(machine.removeAllServices() == misuse)
            #expect(machine.startAdvertising(AdvertisementLayout()) == misuse)
            #expect(machine.stopAdvertising() == misuse)
            #expect(machine.respond(to: Fixture.request, part: 0, attCode: 0, value: nil) == misuse)
            #expect(machine.updateValue(Data(), of: ObjectKey(rawValue: 1), "FFF1", to: nil).effects == misuse)
            #expect(machine.setConnectionLatency(.low, of: Fixture.central) == misuse)
            #expect(machine.publishChannel(isEncryptionRequired: false) == misuse)
            #expect(machine.unpublishChannel(psm: 0x80) == misuse)
        }
    }

    @Test func S5_theSameStateAgainIsNotDelivered() {
        var fixture = Fixture.poweredOn()
        #expect(fixture.machine.handle(.stateChanged(.poweredOn)).isEmpty)
    }
}

extension [PeripheralEffect] {
    /// The error codes that `didAdd` delivers.
    fileprivate var additionErrors: [BackendError.Code?] {
        callbacks.compactMap { callback -> BackendError.Code?? in
            if case .added(_, let error) = callback { error?.code } else { nil }
        }
    }
}
