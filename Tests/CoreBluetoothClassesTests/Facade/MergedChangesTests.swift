import BluetoothBackend
import Dispatch
import Foundation
import Testing

@testable import CoreBluetoothClasses

/// A queue that is busy for long while other devices change things again and again.
@Suite struct MergedChangesTests {
    private static let limits = CBManagerLimits(undeliveredEvents: 16)
    private static let rounds = 10_000

    private func connectedFixture() async -> (FacadeFixture, CBPeripheral) {
        let fixture = FacadeFixture(options: [CBManagerOptionLimitsKey: Self.limits])
        return (fixture, await fixture.connect())
    }

    @Test func ofManyNamesTheLastIsReported() async {
        let (fixture, peripheral) = await connectedFixture()
        fixture.queue.suspendWhenIdle()
        for number in 1...Self.rounds {
            fixture.central.send(.nameChanged(peer: fixture.peer, name: "\(number)", source: .gap))
        }
        #expect(fixture.manager?.core.inbox.count ?? .max <= 16)
        fixture.queue.resume()
        await fixture.central.settle()
        #expect(peripheral.name == "\(Self.rounds)")
        #expect(fixture.recorder.lines.last == "name \(Self.rounds)")
        #expect(fixture.recorder.lines.count { $0.hasPrefix("name ") } <= 16)
    }

    @Test func servicesThatComeAndGoAreReportedOnce() async {
        let (fixture, peripheral) = await connectedFixture()
        _ = await fixture.characteristic(of: peripheral)
        fixture.queue.suspendWhenIdle()
        for number in 1...UInt32(Self.rounds) {
            fixture.central.send(
                .servicesChanged(
                    link: fixture.link, removed: [AttributeID(rawValue: number == 1 ? 1 : number + 8)],
                    added: [ServiceRecord(id: AttributeID(rawValue: number + 9), uuid: "FFF0", isPrimary: true)]))
        }
        #expect(fixture.manager?.core.inbox.count ?? .max <= 16)
        fixture.queue.resume()
        await fixture.central.settle()
        #expect(peripheral.services?.isEmpty == true)
        #expect(fixture.manager?.droppedEvents.mergedChanges ?? 0 >= Self.rounds - 16)
    }

    @Test func aLinkThatIsLostAndMadeAgainManyTimesIsReportedWithItsLastState() async {
        let fixture = FacadeFixture(options: [CBManagerOptionLimitsKey: Self.limits])
        let peripheral = await fixture.discover()
        fixture.manager?.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
        await fixture.linkUp(fixture.link)
        guard let connect = fixture.central.lastConnect else { return }
        fixture.queue.suspendWhenIdle()
        for number in 1...UInt64(Self.rounds) {
            fixture.central.send(
                .disconnected(
                    link: LinkID(rawValue: number), reason: .timeout, at: Date(timeIntervalSince1970: 0),
                    isReconnecting: true))
            fixture.central.send(
                .connected(
                    peer: fixture.peer, link: LinkID(rawValue: number + 1), operation: connect.operation,
                    parameters: LinkParameters(mtu: 23, writeCredits: 1)))
        }
        #expect(fixture.manager?.core.inbox.count ?? .max <= 16)
        fixture.queue.resume()
        await fixture.central.settle()
        #expect(peripheral.state == .connected)
        #expect(fixture.recorder.lines.last?.hasPrefix("connected") == true)
    }

    @Test func connectionEventsOfTooManyDevicesLoseTheOldest() async {
        let fixture = FacadeFixture(options: [CBManagerOptionLimitsKey: Self.limits])
        await fixture.central.play(.stateChanged(.poweredOn))
        fixture.queue.suspendWhenIdle()
        for _ in 1...Self.rounds { fixture.central.send(.connectionEvent(peer: PeerID(UUID()), isConnected: true)) }
        #expect(fixture.manager?.core.inbox.count ?? .max <= 16)
        fixture.queue.resume()
        await fixture.central.settle()
        #expect(fixture.manager?.droppedEvents.changes ?? 0 >= Self.rounds - 16)
    }

    @Test func centralsThatSubscribeAndUnsubscribeAreReportedWithTheirLastState() async {
        let fixture = PeripheralFixture(options: [CBManagerOptionLimitsKey: Self.limits])
        await fixture.role.play(.stateChanged(.poweredOn))
        let characteristic = PeripheralFixture.dynamic()
        _ = await fixture.publish(characteristic)
        let attribute = fixture.attribute()
        fixture.queue.suspendWhenIdle()
        for _ in 1...Self.rounds {
            for central in [fixture.central, PeerID(UUID())] {
                fixture.role.send(.subscribed(central: central, attribute: attribute, mtu: 23, notifyCredits: 2))
                fixture.role.send(.unsubscribed(central: central, attribute: attribute))
            }
        }
        fixture.role.send(.subscribed(central: fixture.central, attribute: attribute, mtu: 23, notifyCredits: 2))
        #expect(fixture.manager.core.inbox.count <= 17)
        fixture.queue.resume()
        await fixture.role.settle()
        #expect(characteristic.subscribedCentrals?.map(\.identifier) == [fixture.central.uuid])
        let isQueued = (1...3).map { _ in
            fixture.manager.updateValue(Data(), for: characteristic, onSubscribedCentrals: nil)
        }
        #expect(isQueued == [true, true, false], "as much as the backend takes")
    }

    @Test func requestsAndChannelsOfCentralsThatHaveLeftAreGone() async {
        let fixture = PeripheralFixture(options: [CBManagerOptionLimitsKey: Self.limits])
        await fixture.role.play(.stateChanged(.poweredOn))
        _ = await fixture.publish(PeripheralFixture.dynamic())
        let attribute = fixture.attribute()
        fixture.manager.publishL2CAPChannel(withEncryption: false)
        await fixture.role.play(
            .channelPublished(operation: fixture.role.lastOperation ?? OperationID(rawValue: 0), psm: 0x80))
        fixture.queue.suspendWhenIdle()
        for number in 1...UInt64(Self.rounds) {
            let request = RequestID(rawValue: number)
            let channel = ChannelID(rawValue: number)
            fixture.role.send(
                .readRequested(request: request, central: PeerID(UUID()), attribute: attribute, offset: 0, mtu: 23))
            fixture.role.send(.requestExpired(request: request))
            fixture.role.send(.channelOpened(channel: channel, psm: 0x80, central: PeerID(UUID()), credits: 1))
            fixture.role.send(.channel(channel, .closed))
        }
        #expect(fixture.manager.core.inbox.count <= 16)
        #expect(fixture.manager.core.channels.count <= ChannelTable.closedLimit)
        fixture.queue.resume()
        await fixture.role.settle()
        #expect(fixture.manager.droppedEvents.mergedChanges >= 4 * (Self.rounds - 16))
    }
}
