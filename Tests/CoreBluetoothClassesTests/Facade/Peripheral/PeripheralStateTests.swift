import BluetoothBackend
import Foundation
import LogCapture
import Testing

@testable import CoreBluetoothClasses

@Suite struct PeripheralStateTests {
    /// Also proves S136.
    @Test func S104_centralsAreGoneBeforeTheStateCallbackAndNoOneIsNotified() async {
        let fixture = await PeripheralFixture.poweredOn()
        let characteristic = PeripheralFixture.dynamic()
        _ = await fixture.publish(characteristic)
        await fixture.subscribe()
        fixture.recorder.onEach { _, line in
            if line == "state poweredOff" { #expect(characteristic.subscribedCentrals?.isEmpty == true) }
        }
        await fixture.role.play(
            .stateChanged(.poweredOff), .unsubscribed(central: fixture.central, attribute: fixture.attribute()))
        #expect(fixture.recorder.lines.last == "state poweredOff")
        #expect(characteristic.subscribedCentrals?.isEmpty == true)
    }

    @Test func S104_belowPoweredOffServicesAreTheAppsAgainAndCanBeAddedAgain() async {
        let fixture = await PeripheralFixture.poweredOn()
        let characteristic = PeripheralFixture.dynamic()
        let service = await fixture.publish(characteristic)
        await fixture.role.play(.stateChanged(.resetting))
        characteristic.permissions = [.readable]
        #expect(characteristic.permissions == .readable)
        await fixture.role.play(.stateChanged(.poweredOn))
        await fixture.publish(service)
        #expect(fixture.recorder.lines.suffix(3) == ["state resetting", "state poweredOn", "added FFF0"])
        #expect(fixture.role.definitions.last?.characteristics[0].permissions == .readable)
    }

    @Test func S105_powerOffKeepsWhatIsPublishedAndAddingItAgainFails() async {
        let fixture = await PeripheralFixture.poweredOn()
        let service = await fixture.publish(PeripheralFixture.dynamic())
        await fixture.role.play(.stateChanged(.poweredOff), .stateChanged(.poweredOn))
        fixture.manager.add(service)
        await fixture.role.settle()
        #expect(fixture.recorder.lines.last == "added FFF0 CBError 1")
        await fixture.read(1)
        #expect(fixture.recorder.lines.last == "read FFF1 from 0")
        #expect(fixture.role.definitions.count == 1)
    }

    /// Also proves S119.
    @Test func S104_isAdvertisingIsFalseWhilePausedAndTrueAgainAfterwards() async {
        let fixture = await PeripheralFixture.poweredOn()
        fixture.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "thing"])
        await fixture.role.play(.advertisingStarted(operation: fixture.role.lastOperation!), .stateChanged(.poweredOff))
        #expect(!fixture.manager.isAdvertising)
        await fixture.role.play(.stateChanged(.poweredOn))
        await fixture.role.play(.advertisingStarted(operation: fixture.role.lastOperation!))
        #expect(fixture.manager.isAdvertising)
        #expect(fixture.recorder.lines("advertising").count == 1)
    }

    @Test func S9_anAnswerWhileNotPoweredOnIsLoggedAndIgnored() async {
        LogCapture.start()
        let fixture = await PeripheralFixture.poweredOn()
        _ = await fixture.publish(PeripheralFixture.dynamic())
        await fixture.read(1)
        await fixture.role.play(.stateChanged(.poweredOff))
        fixture.manager.respond(to: fixture.recorder.reads[0], withResult: .success)
        #expect(fixture.role.responses.isEmpty)
        let text = "API MISUSE: \(fixture.manager) can only accept this command while in the powered on state"
        #expect(LogCapture.lines(containing: text).count == 1)
    }

    @Test func S160_theDelegateIsReadAtDelivery() async {
        let fixture = await PeripheralFixture.poweredOn()
        _ = await fixture.publish(PeripheralFixture.dynamic())
        let later = PeripheralRecorder(queue: fixture.queue)
        fixture.queue.suspendWhenIdle()
        fixture.role.send(
            .subscribed(central: fixture.central, attribute: fixture.attribute(), mtu: 23, notifyCredits: 1))
        fixture.manager.delegate = later
        fixture.queue.resume()
        await fixture.role.settle()
        #expect(later.lines == ["subscribed FFF1 of 1"])
        #expect(fixture.recorder.lines("subscribed").isEmpty)
    }

    @Test func aReadThatNobodyAnswersIsRefused() async {
        let fixture = await PeripheralFixture.poweredOn()
        _ = await fixture.publish(PeripheralFixture.dynamic())
        fixture.manager.delegate = nil
        await fixture.read(1)
        await fixture.write(2, [(0, 0, [1])])
        #expect(fixture.role.responses == [Response(1, 6), Response(2, 6)])
        let minimal = StateOnlyDelegate()
        fixture.manager.delegate = minimal
        await fixture.read(3)
        await fixture.write(4, [(0, 0, [1]), (0, 1, [1])])
        #expect(fixture.role.responses.suffix(2) == [Response(3, 6), Response(4, 6)])
    }

    @Test func aReleasedManagerLeavesNothingBehind() async {
        let backend = ScriptedBackend()
        let characteristic = PeripheralFixture.dynamic()
        weak var service: CBMutableService?
        do {
            let fixture = PeripheralFixture(backend: backend)
            await fixture.role.play(.stateChanged(.poweredOn))
            service = await fixture.publish(characteristic)
            #expect(service != nil)
            await fixture.subscribe()
            #expect(characteristic.subscribedCentrals?.count == 1)
        }
        #expect(backend.peripherals[0].isInvalidated)
        #expect(service == nil)
        #expect(characteristic.subscribedCentrals?.isEmpty == true)
        characteristic.properties = .read
        #expect(characteristic.properties == .read)
    }

    /// A request outlives its manager: its answer has no effect, and another manager does not accept it.
    @Test func aRequestOfAnotherManagerIsRefused() async {
        LogCapture.start()
        let fixture = await PeripheralFixture.poweredOn()
        _ = await fixture.publish(PeripheralFixture.dynamic())
        await fixture.read(1)
        let other = await PeripheralFixture.poweredOn()
        other.manager.respond(to: fixture.recorder.reads[0], withResult: .success)
        other.manager.respond(
            to: CBATTRequest(
                central: TestObjects.central(), characteristic: TestObjects.characteristic(), offset: 0, value: nil),
            withResult: .success)
        #expect(other.role.responses.isEmpty)
        #expect(LogCapture.lines(containing: "\(other.manager) was given a request that it did not make").count == 2)
    }

    @Test func aServiceOfTwoManagersIsPublishedByOne() async {
        let fixture = await PeripheralFixture.poweredOn()
        let service = await fixture.publish(PeripheralFixture.dynamic())
        let other = await PeripheralFixture.poweredOn()
        other.manager.add(service)
        await other.role.settle()
        #expect(other.recorder.lines.last == "added FFF0 CBError 1")
        fixture.manager.remove(service)
        await fixture.role.settle()
        await other.publish(service)
        #expect(other.recorder.lines.last == "added FFF0")
    }
}

private final class StateOnlyDelegate: NSObject, CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
}
