import BluetoothBackend
import Dispatch
import Foundation
import LogCapture
import Testing

@testable import CoreBluetoothClasses

/// A queue that handles events more slowly than they arrive.
@Suite struct LimitsTests {
    private func fixture(_ limits: CBManagerLimits, _ label: String = "slow") -> FacadeFixture {
        FacadeFixture(queue: DispatchQueue(label: label), options: [CBManagerOptionLimitsKey: limits])
    }

    private func discovery(_ peer: PeerID, _ name: String, _ rssi: Int) -> CentralEvent {
        .discovered(Discovery(peer: peer, name: name, advertisement: Advertisement(), rssi: rssi))
    }

    @Test func reportsOfADeviceAreMergedWhileTheQueueIsBusy() async {
        LogCapture.start()
        let fixture = fixture(CBManagerLimits(undeliveredEvents: 16), "busy with reports")
        await fixture.central.play(.stateChanged(.poweredOn))
        fixture.manager?.scanForPeripherals(
            withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        let peers = (0..<4).map { _ in PeerID(UUID()) }
        fixture.queue.suspendWhenIdle()
        for round in 1...1000 {
            for (index, peer) in peers.enumerated() { fixture.central.send(discovery(peer, "\(index)", -round)) }
        }
        fixture.queue.resume()
        await fixture.central.settle()
        let lines = fixture.recorder.lines.dropFirst()
        #expect(lines.count <= 16)
        #expect(lines.prefix(4).map { $0.split(separator: " ")[1] } == ["0", "1", "2", "3"], "each keeps its place")
        for index in 0..<4 {
            #expect(lines.last { $0.hasPrefix("discovered \(index) ") } == "discovered \(index) -1000")
        }
        #expect(fixture.manager?.droppedEvents.mergedScanReports == 4000 - lines.count)
        #expect(fixture.manager?.droppedEvents.scanReports == 0)
        #expect(LogCapture.lines(containing: "16 events wait for queue busy with reports").count == 1)
    }

    @Test func theOldestNotificationsAreDroppedAndCounted() async {
        LogCapture.start()
        let fixture = fixture(CBManagerLimits(undeliveredEvents: 8), "busy with notifications")
        let peripheral = await fixture.connect()
        let characteristic = await fixture.characteristic(of: peripheral)
        let id = AttributeID(rawValue: 2)
        fixture.queue.suspendWhenIdle()
        for number in UInt8(1)...200 {
            fixture.central.send(.valueNotified(link: fixture.link, attribute: id, value: Data([number])))
        }
        fixture.queue.resume()
        await fixture.central.settle()
        #expect(fixture.manager?.droppedEvents.notifications == 192)
        #expect(fixture.recorder.lines.suffix(8).count { $0.hasPrefix("value") } == 8)
        #expect(fixture.recorder.lines.count { $0.hasPrefix("value") } == 8)
        #expect(characteristic.value == Data([200]))
        #expect(peripheral.state == .connected)
        #expect(LogCapture.lines(containing: "8 events wait for queue busy with notifications").count == 1)
    }

    @Test func aPeripheralThatSendsTooMuchIsDisconnectedWhereThatIsWanted() async {
        let fixture = fixture(CBManagerLimits(undeliveredEvents: 8, notificationOverflow: .disconnect))
        let peripheral = await fixture.connect()
        _ = await fixture.characteristic(of: peripheral)
        let id = AttributeID(rawValue: 2)
        fixture.queue.suspendWhenIdle()
        for number in UInt8(1)...200 {
            fixture.central.send(.valueNotified(link: fixture.link, attribute: id, value: Data([number])))
        }
        fixture.queue.resume()
        await fixture.central.settle()
        #expect(fixture.central.commands.last == .disconnect(peer: fixture.peer))
        #expect(peripheral.state == .connected, "until the backend says otherwise")
        #expect(fixture.recorder.lines.count { $0.hasPrefix("value") } == 0)
        let date = Date(timeIntervalSince1970: 0)
        await fixture.central.play(
            .disconnected(link: fixture.link, reason: .local, at: date, isReconnecting: false))
        #expect(fixture.recorder.lines.last == "disconnected disconnected CBError \(CBError.Code.outOfSpace.rawValue)")
        #expect(fixture.manager?.droppedEvents.notifications == 200)
    }

    @Test func writeCommandsAreDroppedAndRequestsAreNot() async {
        let fixture = PeripheralFixture(options: [CBManagerOptionLimitsKey: CBManagerLimits(undeliveredEvents: 8)])
        await fixture.role.play(.stateChanged(.poweredOn))
        _ = await fixture.publish(PeripheralFixture.dynamic())
        guard case .addService(_, let definition)? = fixture.role.commands.last,
            let id = definition.characteristics.first?.id
        else {
            Issue.record("\(fixture.role.commands)")
            return
        }
        fixture.queue.suspendWhenIdle()
        for number in UInt8(1)...200 {
            let part = WritePart(attribute: id, offset: 0, value: Data([number]))
            fixture.role.send(
                .writeRequested(
                    request: RequestID(rawValue: UInt64(number)), central: fixture.central, mtu: 23,
                    wantsResponse: number % 20 == 0, parts: [part]))
        }
        fixture.queue.resume()
        await fixture.role.settle()
        #expect(fixture.manager.droppedEvents.writeCommands == 190 - 8)
        let values = fixture.recorder.writes.compactMap { $0.first?.value?.first }
        #expect(values.filter { $0 % 20 == 0 } == (1...10).map { $0 * 20 }, "each waits for its response")
        #expect(values.filter { $0 % 20 != 0 }.count == 8)
        #expect(values == values.sorted())
        fixture.recorder.forget()
    }

    @Test func aHeldPeripheralIsRetrievedThoughTheBackendHasForgottenIt() async {
        let fixture = FacadeFixture()
        let peripheral = await fixture.discover()
        let unknown = UUID()
        #expect(fixture.central.knownPeers([fixture.peer]) == [])
        let found = fixture.manager?.retrievePeripherals(withIdentifiers: [unknown, peripheral.identifier])
        #expect(found == [peripheral])
    }

    @Test func limitsAreAnOptionOfTheManagerAndElseTheDefaultOnes() {
        let some = CBManagerLimits(rememberedPeripherals: 5)
        let options = RoleOptions(
            [CBManagerOptionLimitsKey: some], restoreKey: CBCentralManagerOptionRestoreIdentifierKey)
        #expect(options.rememberedPeers == 5)
        #expect(CBManagerLimits(nil) == CBManager.defaultLimits)
        #expect(CBManager.defaultLimits.rememberedPeripherals == RoleOptions.defaultRememberedPeers)
    }
}
