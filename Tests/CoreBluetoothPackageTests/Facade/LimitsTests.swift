import BluetoothBackend
import Dispatch
import Foundation
import LogCapture
import Testing

@testable import CoreBluetoothPackage

/// A queue that takes events more slowly than they come.
@Suite struct LimitsTests {
    private func stage(_ limits: CBManagerLimits, _ label: String = "slow") -> FacadeStage {
        FacadeStage(queue: DispatchQueue(label: label), options: [CBManagerOptionLimitsKey: limits])
    }

    private func discovery(_ peer: PeerID, _ name: String, _ rssi: Int) -> CentralEvent {
        .discovered(Discovery(peer: peer, name: name, advertisement: Advertisement(), rssi: rssi))
    }

    @Test func reportsOfADeviceAreMergedWhileTheQueueIsBusy() async {
        LogCapture.start()
        let stage = stage(CBManagerLimits(undeliveredEvents: 16), "busy with reports")
        await stage.central.play(.stateChanged(.poweredOn))
        stage.manager?.scanForPeripherals(
            withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        let peers = (0..<4).map { _ in PeerID(UUID()) }
        stage.queue.suspend()
        for round in 1...1000 {
            for (index, peer) in peers.enumerated() { stage.central.send(discovery(peer, "\(index)", -round)) }
        }
        stage.queue.resume()
        await stage.central.settle()
        let lines = stage.recorder.lines.dropFirst()
        #expect(lines.count <= 16)
        #expect(lines.prefix(4).map { $0.split(separator: " ")[1] } == ["0", "1", "2", "3"], "each keeps its place")
        for index in 0..<4 {
            #expect(lines.last { $0.hasPrefix("discovered \(index) ") } == "discovered \(index) -1000")
        }
        #expect(stage.manager?.droppedEvents.mergedScanReports == 4000 - lines.count)
        #expect(stage.manager?.droppedEvents.scanReports == 0)
        #expect(LogCapture.lines(containing: "16 events wait for queue busy with reports").count == 1)
    }

    @Test func theOldestNotificationsAreDroppedAndCounted() async {
        LogCapture.start()
        let stage = stage(CBManagerLimits(undeliveredEvents: 8), "busy with notifications")
        let peripheral = await stage.connect()
        let characteristic = await stage.characteristic(of: peripheral)
        let id = AttributeID(rawValue: 2)
        stage.queue.suspend()
        for number in UInt8(1)...200 {
            stage.central.send(.valueNotified(link: stage.link, attribute: id, value: Data([number])))
        }
        stage.queue.resume()
        await stage.central.settle()
        #expect(stage.manager?.droppedEvents.notifications == 192)
        #expect(stage.recorder.lines.suffix(8).count { $0.hasPrefix("value") } == 8)
        #expect(stage.recorder.lines.count { $0.hasPrefix("value") } == 8)
        #expect(characteristic.value == Data([200]))
        #expect(peripheral.state == .connected)
        #expect(LogCapture.lines(containing: "8 events wait for queue busy with notifications").count == 1)
    }

    @Test func aPeripheralThatSendsTooMuchIsDisconnectedWhereThatIsWanted() async {
        let stage = stage(CBManagerLimits(undeliveredEvents: 8, notificationOverflow: .disconnect))
        let peripheral = await stage.connect()
        _ = await stage.characteristic(of: peripheral)
        let id = AttributeID(rawValue: 2)
        stage.queue.suspend()
        for number in UInt8(1)...200 {
            stage.central.send(.valueNotified(link: stage.link, attribute: id, value: Data([number])))
        }
        stage.queue.resume()
        await stage.central.settle()
        #expect(stage.central.commands.last == .disconnect(peer: stage.peer))
        #expect(peripheral.state == .connected, "until the radio says otherwise")
        #expect(stage.recorder.lines.count { $0.hasPrefix("value") } == 0)
        let date = Date(timeIntervalSince1970: 0)
        await stage.central.play(
            .disconnected(link: stage.link, reason: .local, at: date, isReconnecting: false))
        #expect(stage.recorder.lines.last == "disconnected disconnected CBError \(CBError.Code.outOfSpace.rawValue)")
        #expect(stage.manager?.droppedEvents.notifications == 200)
    }

    @Test func writeCommandsAreDroppedAndRequestsAreNot() async {
        let stage = PeripheralStage(options: [CBManagerOptionLimitsKey: CBManagerLimits(undeliveredEvents: 8)])
        await stage.role.play(.stateChanged(.poweredOn))
        _ = await stage.publish(PeripheralStage.dynamic())
        guard case .addService(_, let definition)? = stage.role.commands.last,
            let id = definition.characteristics.first?.id
        else {
            Issue.record("\(stage.role.commands)")
            return
        }
        stage.queue.suspend()
        for number in UInt8(1)...200 {
            let part = WritePart(attribute: id, offset: 0, value: Data([number]))
            stage.role.send(
                .writeRequested(
                    request: RequestID(rawValue: UInt64(number)), central: stage.central, mtu: 23,
                    wantsResponse: number % 20 == 0, parts: [part]))
        }
        stage.queue.resume()
        await stage.role.settle()
        #expect(stage.manager.droppedEvents.writeCommands == 190 - 8)
        let values = stage.recorder.writes.compactMap { $0.first?.value?.first }
        #expect(values.filter { $0 % 20 == 0 } == (1...10).map { $0 * 20 }, "each waits for its response")
        #expect(values.filter { $0 % 20 != 0 }.count == 8)
        #expect(values == values.sorted())
        stage.recorder.forget()
    }

    @Test func aHeldPeripheralIsRetrievedThoughTheRadioHasForgottenIt() async {
        let stage = FacadeStage()
        let peripheral = await stage.discover()
        let unknown = UUID()
        #expect(stage.central.knownPeers([stage.peer]) == [])
        let found = stage.manager?.retrievePeripherals(withIdentifiers: [unknown, peripheral.identifier])
        #expect(found == [peripheral])
    }

    @Test func limitsAreAnOptionOfTheManagerAndElseTheDefaultOnes() {
        let some = CBManagerLimits(rememberedPeripherals: 5)
        #expect(CentralOptions([CBManagerOptionLimitsKey: some]).rememberedPeers == 5)
        #expect(PeripheralOptions([CBManagerOptionLimitsKey: some]).rememberedPeers == 5)
        #expect(CBManagerLimits(nil) == CBManager.defaultLimits)
        #expect(CBManager.defaultLimits.rememberedPeripherals == CentralOptions.defaultRememberedPeers)
    }
}
