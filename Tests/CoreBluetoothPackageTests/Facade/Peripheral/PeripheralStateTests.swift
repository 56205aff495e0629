import BluetoothBackend
import Foundation
import LogCapture
import Testing

@testable import CoreBluetoothPackage

@Suite struct PeripheralStateTests {
    /// Proves S104, S136.
    @Test func S104_centralsAreGoneBeforeTheStateCallbackAndNobodyIsTold() async {
        let stage = await PeripheralStage.poweredOn()
        let characteristic = PeripheralStage.dynamic()
        _ = await stage.publish(characteristic)
        await stage.subscribe()
        stage.recorder.onEach { _, line in
            if line == "state poweredOff" { #expect(characteristic.subscribedCentrals?.isEmpty == true) }
        }
        await stage.role.play(
            .stateChanged(.poweredOff), .unsubscribed(central: stage.central, attribute: stage.attribute()))
        #expect(stage.recorder.lines.last == "state poweredOff")
        #expect(characteristic.subscribedCentrals?.isEmpty == true)
    }

    /// Proves S104.
    @Test func S104_belowPoweredOffServicesAreTheAppsAgainAndCanBeAddedAgain() async {
        let stage = await PeripheralStage.poweredOn()
        let characteristic = PeripheralStage.dynamic()
        let service = await stage.publish(characteristic)
        await stage.role.play(.stateChanged(.resetting))
        characteristic.permissions = [.readable]
        #expect(characteristic.permissions == .readable)
        await stage.role.play(.stateChanged(.poweredOn))
        await stage.publish(service)
        #expect(stage.recorder.lines.suffix(3) == ["state resetting", "state poweredOn", "added FFF0"])
        #expect(stage.role.definitions.last?.characteristics[0].permissions == .readable)
    }

    /// Proves S105.
    @Test func S105_powerOffKeepsWhatIsPublishedAndAddingItAgainFails() async {
        let stage = await PeripheralStage.poweredOn()
        let service = await stage.publish(PeripheralStage.dynamic())
        await stage.role.play(.stateChanged(.poweredOff), .stateChanged(.poweredOn))
        stage.manager.add(service)
        await stage.role.settle()
        #expect(stage.recorder.lines.last == "added FFF0 CBError 1")
        await stage.read(1)
        #expect(stage.recorder.lines.last == "read FFF1 from 0")
        #expect(stage.role.definitions.count == 1)
    }

    /// Proves S104, S119.
    @Test func S104_isAdvertisingIsFalseWhilePausedAndTrueAgainAfterwards() async {
        let stage = await PeripheralStage.poweredOn()
        stage.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "thing"])
        await stage.role.play(.advertisingStarted(operation: stage.role.lastOperation!), .stateChanged(.poweredOff))
        #expect(!stage.manager.isAdvertising)
        await stage.role.play(.stateChanged(.poweredOn))
        await stage.role.play(.advertisingStarted(operation: stage.role.lastOperation!))
        #expect(stage.manager.isAdvertising)
        #expect(stage.recorder.lines("advertising").count == 1)
    }

    /// Proves S9.
    @Test func S9_anAnswerWhileNotPoweredOnIsLoggedAndIgnored() async {
        LogCapture.start()
        let stage = await PeripheralStage.poweredOn()
        _ = await stage.publish(PeripheralStage.dynamic())
        await stage.read(1)
        await stage.role.play(.stateChanged(.poweredOff))
        stage.manager.respond(to: stage.recorder.reads[0], withResult: .success)
        #expect(stage.role.responses.isEmpty)
        let text = "API MISUSE: \(stage.manager) can only accept this command while in the powered on state"
        #expect(LogCapture.lines(containing: text).count == 1)
    }

    /// Proves S160.
    @Test func S160_theDelegateIsReadAtDelivery() async {
        let stage = await PeripheralStage.poweredOn()
        _ = await stage.publish(PeripheralStage.dynamic())
        let later = PeripheralRecorder(queue: stage.queue)
        stage.queue.suspend()
        stage.role.send(
            .subscribed(central: stage.central, attribute: stage.attribute(), mtu: 23, notifyCredits: 1))
        stage.manager.delegate = later
        stage.queue.resume()
        await stage.role.settle()
        #expect(later.lines == ["subscribed FFF1 of 1"])
        #expect(stage.recorder.lines("subscribed").isEmpty)
    }

    @Test func aReadThatNobodyAnswersIsRefused() async {
        let stage = await PeripheralStage.poweredOn()
        _ = await stage.publish(PeripheralStage.dynamic())
        stage.manager.delegate = nil
        await stage.read(1)
        await stage.write(2, [(0, 0, [1])])
        #expect(stage.role.responses == [Response(1, 6), Response(2, 6)])
        let minimal = StateOnlyDelegate()
        stage.manager.delegate = minimal
        await stage.read(3)
        await stage.write(4, [(0, 0, [1]), (0, 1, [1])])
        #expect(stage.role.responses.suffix(2) == [Response(3, 6), Response(4, 6)])
    }

    @Test func aReleasedManagerLeavesNothingBehind() async {
        let radio = ScriptedRadio()
        let characteristic = PeripheralStage.dynamic()
        weak var service: CBMutableService?
        do {
            let stage = PeripheralStage(radio: radio)
            await stage.role.play(.stateChanged(.poweredOn))
            service = await stage.publish(characteristic)
            #expect(service != nil)
            await stage.subscribe()
            #expect(characteristic.subscribedCentrals?.count == 1)
        }
        #expect(radio.peripherals[0].isInvalidated)
        #expect(service == nil)
        #expect(characteristic.subscribedCentrals?.isEmpty == true)
        characteristic.properties = .read
        #expect(characteristic.properties == .read)
    }

    /// A request outlives its manager: its answer goes nowhere, and another manager does not take it.
    @Test func aRequestOfAnotherManagerIsRefused() async {
        LogCapture.start()
        let stage = await PeripheralStage.poweredOn()
        _ = await stage.publish(PeripheralStage.dynamic())
        await stage.read(1)
        let other = await PeripheralStage.poweredOn()
        other.manager.respond(to: stage.recorder.reads[0], withResult: .success)
        other.manager.respond(
            to: CBATTRequest(
                central: TestObjects.central(), characteristic: TestObjects.characteristic(), offset: 0, value: nil),
            withResult: .success)
        #expect(other.role.responses.isEmpty)
        #expect(LogCapture.lines(containing: "\(other.manager) was given a request that it did not make").count == 2)
    }

    @Test func aServiceOfTwoManagersIsPublishedByOne() async {
        let stage = await PeripheralStage.poweredOn()
        let service = await stage.publish(PeripheralStage.dynamic())
        let other = await PeripheralStage.poweredOn()
        other.manager.add(service)
        await other.role.settle()
        #expect(other.recorder.lines.last == "added FFF0 CBError 1")
        stage.manager.remove(service)
        await stage.role.settle()
        await other.publish(service)
        #expect(other.recorder.lines.last == "added FFF0")
    }
}

private final class StateOnlyDelegate: NSObject, CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
}
