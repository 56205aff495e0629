import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothPackage

@Suite struct PeripheralRoleTests {
    /// Proves S106.
    @Test func S106_addIsAnsweredLaterOncePerCallInOrderWithTheSameObject() async {
        let stage = await PeripheralStage.poweredOn()
        let first = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        let second = CBMutableService(type: CBUUID(string: "FFF5"), primary: true)
        stage.manager.add(first)
        stage.manager.add(second)
        #expect(stage.recorder.added.isEmpty)
        let operations = stage.role.commands.compactMap(\.operation)
        await stage.role.play(.serviceAdded(operation: operations[1]))
        #expect(stage.recorder.added.isEmpty)
        await stage.role.play(.serviceAdded(operation: operations[0]))
        #expect(stage.recorder.added == [first, second])
        #expect(stage.recorder.lines == ["state poweredOn", "added FFF0", "added FFF5"])
    }

    /// Proves S106, S163.
    @Test func S106_S163_aFailureOfTheRadioIsTheErrorOfItsAdd() async {
        let stage = await PeripheralStage.poweredOn()
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        stage.manager.add(service)
        await stage.role.play(
            .operationFailed(operation: stage.role.lastOperation!, error: BackendError(.outOfSpace, operation: "add")))
        #expect(stage.recorder.lines.last == "added FFF0 CBError 4")
        service.includedServices = []
        #expect(service.includedServices != nil)
    }

    /// Proves S119.
    @Test func S119_isAdvertisingIsTrueInTheCallback() async {
        let stage = await PeripheralStage.poweredOn()
        stage.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "thing"])
        #expect(!stage.manager.isAdvertising)
        await stage.role.play(.advertisingStarted(operation: stage.role.lastOperation!))
        #expect(stage.recorder.lines.last == "advertising true")
        #expect(stage.manager.isAdvertising)
    }

    /// Proves S125.
    @Test func S125_aReadCarriesNoValueButOffsetCentralAndTheAppsCharacteristic() async {
        let stage = await PeripheralStage.poweredOn()
        let characteristic = PeripheralStage.dynamic()
        _ = await stage.publish(characteristic)
        await stage.read(7, at: 3, mtu: 50)
        let request = stage.recorder.reads[0]
        #expect(request.value == nil)
        #expect(request.offset == 3)
        #expect(request.central.identifier == stage.central.uuid)
        #expect(request.central.maximumUpdateValueLength == 47)
        #expect(request.characteristic === characteristic)
        request.value = Data([4, 5])
        stage.manager.respond(to: request, withResult: .success)
        #expect(stage.role.responses == [Response(7, 0, [4, 5])])
    }

    /// Proves S130.
    @Test func S130_aWriteIsAnsweredOnceForAllItsParts() async {
        let stage = await PeripheralStage.poweredOn()
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        service.characteristics = [PeripheralStage.dynamic(), PeripheralStage.dynamic("FFF2")]
        await stage.publish(service)
        await stage.write(8, [(0, 0, [1]), (0, 1, [2]), (1, 0, [3])])
        #expect(stage.recorder.lines.last == "write FFF1@0[1] FFF1@1[2] FFF2@0[3]")
        stage.manager.respond(to: stage.recorder.writes[0][0], withResult: .success)
        #expect(stage.role.responses == [Response(8, 0)])
    }

    /// Proves S136, S162.
    @Test func S136_S162_subscribedCentralsHasTheCentralInTheCallback() async {
        let stage = await PeripheralStage.poweredOn()
        let characteristic = PeripheralStage.dynamic()
        _ = await stage.publish(characteristic)
        await stage.subscribe()
        await stage.subscribe(stage.other)
        #expect(characteristic.subscribedCentrals?.map(\.identifier) == [stage.central.uuid, stage.other.uuid])
        await stage.role.play(.unsubscribed(central: stage.central, attribute: stage.attribute()))
        #expect(
            stage.recorder.lines.suffix(3) == [
                "subscribed FFF1 of 1", "subscribed FFF1 of 2", "unsubscribed FFF1 of 1",
            ])
        #expect(characteristic.subscribedCentrals?.map(\.identifier) == [stage.other.uuid])
    }

    /// Proves S137.
    @Test func S137_updatesGoOutWhileThereAreCreditsAndAgainAfterReady() async {
        let stage = await PeripheralStage.poweredOn()
        let characteristic = PeripheralStage.dynamic()
        _ = await stage.publish(characteristic)
        await stage.subscribe(credits: 1)
        #expect(stage.manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
        #expect(!stage.manager.updateValue(Data([2]), for: characteristic, onSubscribedCentrals: nil))
        await stage.role.play(.notifyCredits(central: stage.central, count: 1))
        #expect(stage.recorder.lines.last == "ready")
        #expect(stage.manager.updateValue(Data([3]), for: characteristic, onSubscribedCentrals: nil))
        let sent = stage.role.commands.compactMap { command -> Data? in
            if case .updateValue(_, let value, _) = command { value } else { nil }
        }
        #expect(sent == [Data([1]), Data([3])])
    }

    /// Proves S136.
    @Test func S136_oneObjectStandsForACentral() async {
        let stage = await PeripheralStage.poweredOn()
        let characteristic = PeripheralStage.dynamic()
        _ = await stage.publish(characteristic)
        await stage.subscribe()
        await stage.read(1, mtu: 100)
        let subscriber = characteristic.subscribedCentrals?.first
        #expect(stage.recorder.reads[0].central === subscriber)
        #expect(subscriber?.maximumUpdateValueLength == 97)
    }

    /// Proves S158.
    @Test func S158_S159_callbacksComeOnTheQueueAndNeverWithinTheCall() async {
        let stage = await PeripheralStage.poweredOn()
        stage.queue.suspend()
        let service = CBMutableService(type: CBUUID(string: "1801"), primary: true)
        stage.manager.add(service)
        stage.manager.startAdvertising(nil)
        stage.manager.startAdvertising(nil)
        #expect(stage.recorder.lines == ["state poweredOn"])
        stage.queue.resume()
        await stage.role.play(.advertisingStarted(operation: stage.role.lastOperation!))
        #expect(
            stage.recorder.lines.dropFirst() == [
                "added 1801 CBError 8", "advertising true", "advertising true CBError 9",
            ]
        )
    }
}
