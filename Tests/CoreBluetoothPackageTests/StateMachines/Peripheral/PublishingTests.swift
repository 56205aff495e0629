import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothPackage

@Suite struct PublishingTests {
    typealias Stage = PeripheralMachineStage

    private func error(of effects: [PeripheralEffect]) -> BackendError.Code? {
        for case .refused(_, let error) in effects.completions { return error.code }
        return nil
    }

    /// Proves S104.
    @Test func S104_belowPoweredOffTheDatabaseIsCleared() {
        var stage = Stage.published()
        let id = stage.id(100)
        let effects = stage.machine.handle(.stateChanged(.resetting))
        #expect(effects == [.dropAdditions([]), .thaw(id), .forget(id), .callback(.stateUpdated)])
        #expect(stage.machine.database.serviceIDs.isEmpty)
        _ = stage.machine.handle(.stateChanged(.poweredOn))
        #expect(stage.publish(Stage.service()).callbacks.count == 1)
        #expect(stage.id(100) > id)
    }

    /// Proves S104.
    @Test func S104_belowPoweredOnTheCentralsAreGone() {
        var stage = Stage.published()
        _ = stage.subscribe()
        _ = stage.read()
        let effects = stage.machine.handle(.stateChanged(.poweredOff))
        #expect(effects == [.clearSubscribers(stage.id()), .dropAdditions([]), .callback(.stateUpdated)])
        #expect(stage.unsubscribe().isEmpty)
        _ = stage.machine.handle(.stateChanged(.poweredOn))
        #expect(stage.respond().misuses == [.notWaiting(Stage.request)])
        #expect(stage.update([1]).effects.isEmpty)
    }

    /// Proves S105.
    @Test func S105_powerOffKeepsWhatIsPublishedAndAddingItAgainFails() {
        var stage = Stage.published()
        _ = stage.machine.handle(.stateChanged(.poweredOff))
        _ = stage.machine.handle(.stateChanged(.poweredOn))
        #expect(stage.read().callbacks.count == 1)
        let again = stage.machine.add(
            Stage.service(characteristics: [Stage.characteristic()]))
        #expect(error(of: again.effects) == .invalidParameters)
        #expect(again.effects.commands.isEmpty)
    }

    /// An answer that power took away never comes: what it was about is withdrawn on both sides.
    @Test func anAdditionThatPowerOffInterruptsIsTakenBack() {
        var stage = Stage.poweredOn()
        let addition = stage.machine.add(Stage.service())
        let id = stage.id(100)
        let effects = stage.machine.handle(.stateChanged(.poweredOff))
        #expect(
            effects == [
                .submit(.removeService(id)), .thaw(id), .forget(id), .dropAdditions([addition.operation!]),
                .callback(.stateUpdated),
            ])
        #expect(stage.machine.handle(.serviceAdded(operation: addition.operation!)).isEmpty)
    }

    /// Proves S106.
    @Test func S106_answersComeInTheOrderOfTheCallsAlsoThoseThatNeedNoRadio() {
        var stage = Stage.poweredOn()
        let first = stage.machine.add(Stage.service(1))
        let refused = stage.machine.add(Stage.service(2, "1801"))
        let third = stage.machine.add(Stage.service(3))
        let completion = refused.effects.completions[0]
        #expect(stage.machine.handle(completion).isEmpty)
        #expect(stage.machine.handle(.serviceAdded(operation: third.operation!)).isEmpty)
        let effects = stage.machine.handle(.serviceAdded(operation: first.operation!))
        #expect(effects.callbacks.count == 3)
        #expect(effects.first == .callback(.added(first.operation!, nil)))
        #expect(effects.last == .callback(.added(third.operation!, nil)))
        #expect(stage.machine.handle(.serviceAdded(operation: first.operation!)).isEmpty)
    }

    @Test func identifiersAreNeverUsedTwice() {
        var stage = Stage.published()
        let old = [stage.id(100), stage.id(101)]
        _ = stage.machine.remove(ObjectKey(rawValue: 100))
        stage.publish(Stage.service(characteristics: [Stage.characteristic()]))
        #expect(stage.id(100) > old[1])
        #expect(stage.id(101) > stage.id(100))
    }

    /// Proves S108.
    @Test func S108_aStaticValueIsServedWithoutACallback() {
        let bytes = Data((0..<30).map { UInt8($0) })
        var stage = Stage.published(
            Stage.characteristic(properties: .read, permissions: .readable, value: bytes))
        func answer(_ code: UInt8, _ value: Data?) -> [PeripheralEffect] {
            [.submit(.respond(request: Stage.request, attCode: code, value: value))]
        }
        #expect(stage.read() == answer(0, bytes.prefix(22)))
        #expect(stage.read(offset: 22) == answer(0, Data(bytes.dropFirst(22))))
        #expect(stage.read(offset: 30) == answer(0, Data()))
        #expect(stage.read(offset: 31) == answer(7, nil))
        #expect(stage.write([(101, [1])]) == answer(3, nil))
    }

    /// Proves S110.
    @Test func S110_whatIsIncludedMustBePublishedBefore() {
        var stage = Stage.poweredOn()
        let early = stage.machine.add(Stage.service(1, included: [2]))
        #expect(error(of: early.effects) == .invalidParameters)
        stage.publish(Stage.service(2))
        let late = stage.machine.add(Stage.service(1, included: [2]))
        #expect(late.definition?.included == [stage.id(2)])
        let itself = stage.machine.add(Stage.service(3, included: [3]))
        #expect(error(of: itself.effects) == .invalidParameters)
    }

    /// Proves S110.
    @Test func S110_whatIncludesAFailureFailsToo() {
        var stage = Stage.poweredOn()
        let inner = stage.machine.add(Stage.service(2))
        let outer = stage.machine.add(Stage.service(1, included: [2]))
        let id = stage.id(1)
        _ = stage.machine.handle(
            .operationFailed(operation: inner.operation!, error: BackendError(.outOfSpace, operation: "add")))
        let effects = stage.machine.handle(.serviceAdded(operation: outer.operation!))
        #expect(effects.commands == [.removeService(id)])
        #expect(effects.additionErrors == [.invalidParameters])
        #expect(stage.machine.database.serviceIDs.isEmpty)
    }

    /// Proves S111.
    @Test(arguments: ["180F", "1812"] as [BluetoothUUID])
    func S111_servicesThatOnlyApplesDevicesKeepToThemselvesAreAllowed(uuid: BluetoothUUID) {
        var stage = Stage.poweredOn()
        #expect(error(of: stage.machine.add(Stage.service(1, uuid)).effects) == nil)
    }

    /// Proves S111.
    @Test(arguments: ["1800", "1801"] as [BluetoothUUID])
    func S111_theSystemsOwnServicesAreNotAllowed(uuid: BluetoothUUID) {
        var stage = Stage.poweredOn()
        #expect(error(of: stage.machine.add(Stage.service(1, uuid)).effects) == .uuidNotAllowed)
        let long = BluetoothUUID(value: uuid.value)
        #expect(error(of: stage.machine.add(Stage.service(2, long)).effects) == .uuidNotAllowed)
    }

    /// Proves S112.
    @Test func S112_theSameServiceTwiceIsAnErrorAndEqualUUIDsAreNot() {
        var stage = Stage.published()
        #expect(error(of: stage.machine.add(Stage.service()).effects) == .invalidParameters)
        let twin = stage.machine.add(Stage.service(200, characteristics: [Stage.characteristic(201)]))
        #expect(twin.definition?.uuid == "FFF0")
        #expect(twin.effects.commands.count == 1)
    }

    /// Proves S112.
    @Test func S112_aCharacteristicIsInOneServiceOnly() {
        var stage = Stage.published()
        let sharing = stage.machine.add(Stage.service(200, characteristics: [Stage.characteristic()]))
        #expect(error(of: sharing.effects) == .invalidParameters)
        let doubled = Stage.service(300, characteristics: [Stage.characteristic(301), Stage.characteristic(301)])
        #expect(doubled.refusal?.code == .invalidParameters)
    }

    /// Proves S113.
    @Test func S113_removingWithdrawsAndWhatIsNotPublishedIsNoMatter() {
        var stage = Stage.published()
        let id = stage.id(100)
        #expect(stage.machine.remove(ObjectKey(rawValue: 7)).isEmpty)
        #expect(stage.machine.remove(ObjectKey(rawValue: 101)).isEmpty)
        let effects = stage.machine.remove(ObjectKey(rawValue: 100))
        #expect(effects == [.submit(.removeService(id)), .thaw(id), .complete(.withdrawn([id]))])
        #expect(stage.machine.remove(ObjectKey(rawValue: 100)).isEmpty)
        #expect(stage.machine.handle(.withdrawn([id])) == [.forget(id)])
    }

    /// Proves S113.
    @Test func S113_anIncludingServiceIsRemovedFirst() {
        var stage = Stage.poweredOn()
        stage.publish(Stage.service(2, "FFF2"))
        stage.publish(Stage.service(1, "FFF1", included: [2]))
        #expect(
            stage.machine.remove(ObjectKey(rawValue: 2)) == [
                .misuse(.includedByAnother("FFF2", includer: "FFF1"))
            ])
        #expect(stage.machine.remove(ObjectKey(rawValue: 1)).commands.count == 1)
        #expect(stage.machine.remove(ObjectKey(rawValue: 2)).commands.count == 1)
    }

    @Test func removingAllServicesWithdrawsEach() {
        var stage = Stage.poweredOn()
        stage.publish(Stage.service(2))
        stage.publish(Stage.service(1, included: [2]))
        let ids = [stage.id(2), stage.id(1)]
        let effects = stage.machine.removeAllServices()
        #expect(
            effects == [.submit(.removeAllServices), .thaw(ids[0]), .thaw(ids[1]), .complete(.withdrawn(ids))])
        #expect(stage.machine.database.serviceIDs.isEmpty)
    }

    /// A removed service whose answer is still to come: the call of `add` is answered none the less.
    @Test func aServiceThatIsRemovedBeforeItsAnswerIsAnswered() {
        var stage = Stage.poweredOn()
        let addition = stage.machine.add(Stage.service())
        _ = stage.machine.remove(ObjectKey(rawValue: 100))
        #expect(
            stage.machine.handle(.serviceAdded(operation: addition.operation!))
                == [.callback(.added(addition.operation!, nil))])
    }

    /// Proves S9.
    @Test func S9_nothingIsAcceptedUnlessPoweredOn() {
        var machine = PeripheralStateMachine()
        for state: AdapterState in [.unknown, .resetting, .unsupported, .unauthorized, .poweredOff] {
            _ = machine.handle(.stateChanged(state))
            let misuse: [PeripheralEffect] = [.misuse(.notPoweredOn)]
            #expect(machine.add(Stage.service()).effects == misuse)
            #expect(machine.remove(ObjectKey(rawValue: 1)) == misuse)
            #expect(machine.removeAllServices() == misuse)
            #expect(machine.startAdvertising(AdvertisementLayout()) == misuse)
            #expect(machine.stopAdvertising() == misuse)
            #expect(machine.respond(to: Stage.request, part: 0, attCode: 0, value: nil) == misuse)
            #expect(machine.updateValue(Data(), of: ObjectKey(rawValue: 1), "FFF1", to: nil).effects == misuse)
            #expect(machine.setConnectionLatency(.low, of: Stage.central) == misuse)
            #expect(machine.publishChannel(isEncryptionRequired: false) == misuse)
            #expect(machine.unpublishChannel(psm: 0x80) == misuse)
        }
    }

    /// Proves S5.
    @Test func S5_theSameStateAgainIsNoNews() {
        var stage = Stage.poweredOn()
        #expect(stage.machine.handle(.stateChanged(.poweredOn)).isEmpty)
    }
}

extension [PeripheralEffect] {
    /// The error codes that `didAdd` tells.
    fileprivate var additionErrors: [BackendError.Code?] {
        callbacks.compactMap { callback -> BackendError.Code?? in
            if case .added(_, let error) = callback { error?.code } else { nil }
        }
    }
}
