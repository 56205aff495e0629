#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

@Suite struct CentralRoleMachineChannelTests {
    private typealias Fixture = CentralRoleFixture
    private var fixture: CentralRoleFixture
    private let peer: PeerID
    private let link: LinkID
    private let channel = ChannelID(rawValue: 7)

    init() { (fixture, peer, link) = Fixture.connected() }

    private mutating func ask(_ operation: UInt64 = 100) {
        fixture.command(.request(link: link, operation: OperationID(rawValue: operation), .openChannel(psm: 0x90)))
    }

    private mutating func open() {
        ask()
        fixture.answerChannel(.success(ChannelPool.Opening(channel: channel, credits: 1000)))
        fixture.clear()
    }

    private var actions: [ChannelPool.Action] { fixture.actions.map(\.action) }

    @Test mutating func aChannelGoesFromTheAdapterToTheDevice() {
        ask()
        #expect(fixture.openings.map(\.local) == [L2CAPAddress("00:11:22:33:44:55", isRandom: false)])
        #expect(fixture.openings.map(\.peer) == [L2CAPAddress("F0:F1:F2:F3:F4:F5", isRandom: true, psm: 0x90)])
        fixture.answerChannel(.success(ChannelPool.Opening(channel: channel, credits: 1000)))
        #expect(
            fixture.events == [
                .response(link: link, operation: OperationID(rawValue: 100), .channel(channel, credits: 1000))
            ])
    }

    @Test mutating func anAdapterWithARandomAddressSaysSo() {
        fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["AddressType": .string("random")])
        ask()
        #expect(fixture.openings.map(\.local.isRandom) == [true])
    }

    @Test mutating func aRefusedChannelIsAnError() {
        ask()
        let error = BackendError(.operationNotSupported, operation: "open channel")
        fixture.answerChannel(.failure(error))
        #expect(fixture.events == [.response(link: link, operation: OperationID(rawValue: 100), .failure(error))])
    }

    @Test mutating func whatComesAfterAChannelWaitsForIt() {
        ask(100)
        fixture.command(.request(link: link, operation: OperationID(rawValue: 101), .discoverServices(nil)))
        #expect(fixture.events.isEmpty)
        fixture.answerChannel(.success(ChannelPool.Opening(channel: channel, credits: 1)))
        #expect(fixture.events.count == 2)
        guard case .response(_, _, .services)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
    }

    @Test mutating func commandsOfItsOwnerReachTheChannelAndOthersDoNot() {
        open()
        fixture.input(.activated(2))
        fixture.command(.channel(channel, .send(Data([1]))))
        fixture.command(.channel(channel, .send(Data([2]))), from: 2)
        fixture.command(.channel(channel, .consumed(3)))
        fixture.command(.channel(channel, .close), from: 2)
        #expect(actions == [.command(.send(Data([1]))), .command(.consumed(3))])
        fixture.command(.channel(channel, .close))
        fixture.command(.channel(channel, .send(Data([4]))))
        #expect(actions == [.command(.send(Data([1]))), .command(.consumed(3)), .command(.close)])
        // The closing side receives no event, not even from the socket.
        fixture.input(.channelEnded(channel))
        #expect(!fixture.events.contains(.channel(channel, .closed)))
    }

    @Test mutating func aPeerThatClosesIsReportedOnce() {
        open()
        fixture.input(.channelEnded(channel))
        fixture.input(.channelEnded(channel))
        #expect(fixture.events == [.channel(channel, .closed)])
    }

    @Test mutating func S153_aLostLinkDeliversWhatCameBeforeAndEndsItsChannels() {
        open()
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        fixture.fire(.link(peer, .powerLoss))
        #expect(actions == [.readRest])
        fixture.input(.channelEnded(channel))
        guard fixture.events.count == 1, case .disconnected(link, _, _, _, _)? = fixture.events.first else {
            Issue.record("\(fixture.events)")
            return
        }
    }

    @Test mutating func aChannelWhoseLinkWentMeanwhileIsEnded() {
        ask()
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
        fixture.fire(.link(peer, .powerLoss))
        fixture.clear()
        fixture.answerChannel(.success(ChannelPool.Opening(channel: channel, credits: 1)))
        #expect(actions == [.abort])
        #expect(fixture.events.isEmpty)
    }

    @Test mutating func leavingAPeerClosesTheChannelsOfThatManagerAlone() {
        open()
        fixture.input(.activated(2))
        fixture.command(
            .connect(peer: peer, operation: OperationID(rawValue: 5), options: ConnectOptions()), from: 2)
        fixture.command(.disconnect(peer: peer), from: 2)
        #expect(actions.isEmpty)
        fixture.command(.disconnect(peer: peer))
        #expect(actions == [.command(.close)])
    }

    @Test mutating func channelsGoWithThePowerInSilence() {
        open()
        fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["Powered": .boolean(false)])
        #expect(actions == [.abort])
        #expect(fixture.events == [.stateChanged(.poweredOff)])
    }
}
#endif
