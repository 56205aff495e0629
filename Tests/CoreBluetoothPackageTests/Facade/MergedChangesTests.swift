import BluetoothBackend
import Dispatch
import Foundation
import Testing

@testable import CoreBluetoothPackage

/// A queue that is busy for long while others change things again and again.
@Suite struct MergedChangesTests {
    private static let limits = CBManagerLimits(undeliveredEvents: 16)
    private static let rounds = 10_000

    private func connectedStage() async -> (FacadeStage, CBPeripheral) {
        let stage = FacadeStage(options: [CBManagerOptionLimitsKey: Self.limits])
        return (stage, await stage.connect())
    }

    @Test func ofManyNamesTheLastIsTold() async {
        let (stage, peripheral) = await connectedStage()
        stage.queue.suspend()
        for number in 1...Self.rounds {
            stage.central.send(.nameChanged(peer: stage.peer, name: "\(number)", source: .gap))
        }
        #expect(stage.manager?.core.inbox.count ?? .max <= 16)
        stage.queue.resume()
        await stage.central.settle()
        #expect(peripheral.name == "\(Self.rounds)")
        #expect(stage.recorder.lines.last == "name \(Self.rounds)")
        #expect(stage.recorder.lines.count { $0.hasPrefix("name ") } <= 16)
    }

    @Test func servicesThatComeAndGoAreToldOnce() async {
        let (stage, peripheral) = await connectedStage()
        _ = await stage.characteristic(of: peripheral)
        stage.queue.suspend()
        for number in 1...UInt32(Self.rounds) {
            stage.central.send(
                .servicesChanged(
                    link: stage.link, removed: [AttributeID(rawValue: number == 1 ? 1 : number + 8)],
                    added: [ServiceRecord(id: AttributeID(rawValue: number + 9), uuid: "FFF0", isPrimary: true)]))
        }
        #expect(stage.manager?.core.inbox.count ?? .max <= 16)
        stage.queue.resume()
        await stage.central.settle()
        #expect(peripheral.services?.isEmpty == true)
        #expect(stage.manager?.droppedEvents.mergedChanges ?? 0 >= Self.rounds - 16)
    }

    @Test func aLinkThatIsLostAndMadeAgainManyTimesIsToldWithItsLastState() async {
        let stage = FacadeStage(options: [CBManagerOptionLimitsKey: Self.limits])
        let peripheral = await stage.discover()
        stage.manager?.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
        await stage.linkUp(stage.link)
        guard let connect = stage.central.lastConnect else { return }
        stage.queue.suspend()
        for number in 1...UInt64(Self.rounds) {
            stage.central.send(
                .disconnected(
                    link: LinkID(rawValue: number), reason: .timeout, at: Date(timeIntervalSince1970: 0),
                    isReconnecting: true))
            stage.central.send(
                .connected(
                    peer: stage.peer, link: LinkID(rawValue: number + 1), operation: connect.operation,
                    parameters: LinkParameters(mtu: 23, writeCredits: 1)))
        }
        #expect(stage.manager?.core.inbox.count ?? .max <= 16)
        stage.queue.resume()
        await stage.central.settle()
        #expect(peripheral.state == .connected)
        #expect(stage.recorder.lines.last?.hasPrefix("connected") == true)
    }

    @Test func connectionEventsOfTooManyDevicesLoseTheOldest() async {
        let stage = FacadeStage(options: [CBManagerOptionLimitsKey: Self.limits])
        await stage.central.play(.stateChanged(.poweredOn))
        stage.queue.suspend()
        for _ in 1...Self.rounds { stage.central.send(.connectionEvent(peer: PeerID(UUID()), isConnected: true)) }
        #expect(stage.manager?.core.inbox.count ?? .max <= 16)
        stage.queue.resume()
        await stage.central.settle()
        #expect(stage.manager?.droppedEvents.changes ?? 0 >= Self.rounds - 16)
    }

    @Test func centralsThatSubscribeAndUnsubscribeAreToldWithTheirLastState() async {
        let stage = PeripheralStage(options: [CBManagerOptionLimitsKey: Self.limits])
        await stage.role.play(.stateChanged(.poweredOn))
        let characteristic = PeripheralStage.dynamic()
        _ = await stage.publish(characteristic)
        let attribute = stage.attribute()
        stage.queue.suspend()
        for _ in 1...Self.rounds {
            for central in [stage.central, PeerID(UUID())] {
                stage.role.send(.subscribed(central: central, attribute: attribute, mtu: 23, notifyCredits: 2))
                stage.role.send(.unsubscribed(central: central, attribute: attribute))
            }
        }
        stage.role.send(.subscribed(central: stage.central, attribute: attribute, mtu: 23, notifyCredits: 2))
        #expect(stage.manager.core.inbox.count <= 17)
        stage.queue.resume()
        await stage.role.settle()
        #expect(characteristic.subscribedCentrals?.map(\.identifier) == [stage.central.uuid])
        let isQueued = (1...3).map { _ in
            stage.manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil)
        }
        #expect(isQueued == [true, true, false], "as much as the radio takes")
    }

    @Test func requestsAndChannelsOfCentralsThatHaveLeftAreGone() async {
        let stage = PeripheralStage(options: [CBManagerOptionLimitsKey: Self.limits])
        await stage.role.play(.stateChanged(.poweredOn))
        _ = await stage.publish(PeripheralStage.dynamic())
        let attribute = stage.attribute()
        stage.manager.publishL2CAPChannel(withEncryption: false)
        await stage.role.play(
            .channelPublished(operation: stage.role.lastOperation ?? OperationID(rawValue: 0), psm: 0x80))
        stage.queue.suspend()
        for number in 1...UInt64(Self.rounds) {
            let request = RequestID(rawValue: number)
            let channel = ChannelID(rawValue: number)
            stage.role.send(
                .readRequested(request: request, central: PeerID(UUID()), attribute: attribute, offset: 0, mtu: 23))
            stage.role.send(.requestExpired(request: request))
            stage.role.send(.channelOpened(channel: channel, psm: 0x80, central: PeerID(UUID()), credits: 1))
            stage.role.send(.channelClosed(channel: channel))
        }
        #expect(stage.manager.core.inbox.count <= 16)
        #expect(stage.manager.core.channels.count <= ChannelTable.closedLimit)
        stage.queue.resume()
        await stage.role.settle()
        #expect(stage.manager.droppedEvents.mergedChanges >= 4 * (Self.rounds - 16))
    }
}
