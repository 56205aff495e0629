import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothClasses

@Suite struct PeripheralRoleTests {
    @Test func S106_addIsAnsweredLaterOncePerCallInOrderWithTheSameObject() async {
        let fixture = await PeripheralFixture.poweredOn()
        let first = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        let second = CBMutableService(type: CBUUID(string: "FFF5"), primary: true)
        fixture.manager.add(first)
        fixture.manager.add(second)
        #expect(fixture.recorder.added.isEmpty)
        let operations = fixture.role.commands.compactMap(\.operation)
        await fixture.role.play(.serviceAdded(operation: operations[1]))
        #expect(fixture.recorder.added.isEmpty)
        await fixture.role.play(.serviceAdded(operation: operations[0]))
        #expect(fixture.recorder.added == [first, second])
        #expect(fixture.recorder.lines == ["state poweredOn", "added FFF0", "added FFF5"])
    }

    @Test func S106_S163_aFailureOfTheBackendIsTheErrorOfItsAdd() async {
        let fixture = await PeripheralFixture.poweredOn()
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        fixture.manager.add(service)
        await fixture.role.play(
            .operationFailed(operation: fixture.role.lastOperation!, error: BackendError(.outOfSpace, operation: "add"))
        )
        #expect(fixture.recorder.lines.last == "added FFF0 CBError 4")
        service.includedServices = []
        #expect(service.includedServices != nil)
    }

    @Test func S119_isAdvertisingIsTrueInTheCallback() async {
        let fixture = await PeripheralFixture.poweredOn()
        fixture.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "thing"])
        #expect(!fixture.manager.isAdvertising)
        await fixture.role.play(.advertisingStarted(operation: fixture.role.lastOperation!))
        #expect(fixture.recorder.lines.last == "advertising true")
        #expect(fixture.manager.isAdvertising)
    }

    @Test func S125_aReadCarriesNoValueButOffsetCentralAndTheAppsCharacteristic() async {
        let fixture = await PeripheralFixture.poweredOn()
        let characteristic = PeripheralFixture.dynamic()
        _ = await fixture.publish(characteristic)
        await fixture.read(7, at: 3, mtu: 50)
        let request = fixture.recorder.reads[0]
        #expect(request.value == nil)
        #expect(request.offset == 3)
        #expect(request.central.identifier == fixture.central.uuid)
        #expect(request.central.maximumUpdateValueLength == 47)
        #expect(request.characteristic === characteristic)
        request.value = Data([4, 5])
        fixture.manager.respond(to: request, withResult: .success)
        #expect(fixture.role.responses == [Response(7, 0, [4, 5])])
    }

    @Test func S130_aWriteIsAnsweredOnceForAllItsParts() async {
        let fixture = await PeripheralFixture.poweredOn()
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        service.characteristics = [PeripheralFixture.dynamic(), PeripheralFixture.dynamic("FFF2")]
        await fixture.publish(service)
        await fixture.write(8, [(0, 0, [1]), (0, 1, [2]), (1, 0, [3])])
        #expect(fixture.recorder.lines.last == "write FFF1@0[1] FFF1@1[2] FFF2@0[3]")
        fixture.manager.respond(to: fixture.recorder.writes[0][0], withResult: .success)
        #expect(fixture.role.responses == [Response(8, 0)])
    }

    @Test func S136_S162_subscribedCentralsHasTheCentralInTheCallback() async {
        let fixture = await PeripheralFixture.poweredOn()
        let characteristic = PeripheralFixture.dynamic()
        _ = await fixture.publish(characteristic)
        await fixture.subscribe()
        await fixture.subscribe(fixture.other)
        #expect(characteristic.subscribedCentrals?.map(\.identifier) == [fixture.central.uuid, fixture.other.uuid])
        await fixture.role.play(.unsubscribed(central: fixture.central, attribute: fixture.attribute()))
        #expect(
            fixture.recorder.lines.suffix(3) == [
                "subscribed FFF1 of 1", "subscribed FFF1 of 2", "unsubscribed FFF1 of 1",
            ])
        #expect(characteristic.subscribedCentrals?.map(\.identifier) == [fixture.other.uuid])
    }

    @Test func S137_updatesGoOutWhileThereAreCreditsAndAgainAfterReady() async {
        let fixture = await PeripheralFixture.poweredOn()
        let characteristic = PeripheralFixture.dynamic()
        _ = await fixture.publish(characteristic)
        await fixture.subscribe(credits: 1)
        #expect(fixture.manager.updateValue(Data([1]), for: characteristic, onSubscribedCentrals: nil))
        #expect(!fixture.manager.updateValue(Data([2]), for: characteristic, onSubscribedCentrals: nil))
        await fixture.role.play(.notifyCredits(central: fixture.central, count: 1))
        #expect(fixture.recorder.lines.last == "ready")
        #expect(fixture.manager.updateValue(Data([3]), for: characteristic, onSubscribedCentrals: nil))
        let sent = fixture.role.commands.compactMap { command -> Data? in
            if case .updateValue(_, let value, _) = command { value } else { nil }
        }
        #expect(sent == [Data([1]), Data([3])])
    }

    @Test func S136_oneObjectStandsForACentral() async {
        let fixture = await PeripheralFixture.poweredOn()
        let characteristic = PeripheralFixture.dynamic()
        _ = await fixture.publish(characteristic)
        await fixture.subscribe()
        await fixture.read(1, mtu: 100)
        let subscriber = characteristic.subscribedCentrals?.first
        #expect(fixture.recorder.reads[0].central === subscriber)
        #expect(subscriber?.maximumUpdateValueLength == 97)
    }

    @Test func S158_S159_callbacksComeOnTheQueueAndNeverWithinTheCall() async {
        let fixture = await PeripheralFixture.poweredOn()
        fixture.queue.suspendWhenIdle()
        let service = CBMutableService(type: CBUUID(string: "1801"), primary: true)
        fixture.manager.add(service)
        fixture.manager.startAdvertising(nil)
        fixture.manager.startAdvertising(nil)
        #expect(fixture.recorder.lines == ["state poweredOn"])
        fixture.queue.resume()
        await fixture.role.play(.advertisingStarted(operation: fixture.role.lastOperation!))
        #expect(
            fixture.recorder.lines.dropFirst() == [
                "added 1801 CBError 8", "advertising true", "advertising true CBError 9",
            ]
        )
    }
}
