#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Glibc
import Testing

@testable import BlueZ

/// Subscriptions of an app that chose `AcquireNotify`.
@Suite struct CentralRoleMachineNotificationSocketTests {
    private typealias Fixture = CentralRoleFixture
    private var fixture: CentralRoleFixture
    private let peer: PeerID
    private let link: LinkID
    private var characteristic = AttributeID(rawValue: 0)
    private let operation = OperationID(rawValue: 60)

    init() {
        (fixture, peer, link) = Fixture.connected(notificationMethod: .acquireNotify)
        (_, characteristic) = fixture.discover(on: link)
    }

    private mutating func setNotifying(_ isNotifying: Bool) {
        fixture.command(.request(link: link, operation: operation, .setNotifying(characteristic, isNotifying)))
    }

    private mutating func giveSocket() {
        fixture.answer(
            "AcquireNotify",
            with: .success([.fileDescriptor(DBusFileDescriptor(adopting: dup(0))), .uint16(23)]))
    }

    /// Subscribes, and returns the socket.
    private mutating func subscribe() -> LinkSocketID {
        setNotifying(true)
        giveSocket()
        fixture.clear()
        return fixture.notificationSockets.last?.socket ?? LinkSocketID(number: 0, peer: peer)
    }

    private mutating func disconnect() {
        fixture.set(Fixture.device, "org.bluez.Device1", ["Connected": .boolean(false)])
    }

    private func notified(_ value: UInt8) -> CentralEvent {
        .valueNotified(link: link, attribute: characteristic, value: Data([value]))
    }

    private func response(_ isNotifying: Bool) -> CentralEvent {
        .response(link: link, operation: operation, .notifying(isNotifying))
    }

    private var closed: [LinkSocketID] {
        fixture.notificationSockets.compactMap { $0.action == .close ? $0.socket : nil }
    }

    /// Closes the sockets that the machine took over.
    private func finish() {
        for case .adopt(let descriptor) in fixture.notificationSockets.map(\.action) { close(descriptor) }
    }

    @Test mutating func theBusIsUsedWhereItPassesNoSockets() {
        fixture.host.objects.passesDescriptors = false
        setNotifying(true)
        #expect(fixture.waiting == ["StartNotify"])
    }

    @Test mutating func S87_valuesOnTheSocketAreNotified() {
        setNotifying(true)
        #expect(fixture.waiting == ["AcquireNotify"])
        giveSocket()
        #expect(fixture.events == [response(true)])
        let socket = subscribedSocket
        fixture.input(.notificationSocket(socket, .values([Data([1]), Data([2])])))
        #expect(fixture.events.dropFirst() == [notified(1), notified(2)])
        fixture.clear()
        setNotifying(false)
        // No call is needed, because the daemon notices the end of its socket.
        #expect(fixture.waiting.isEmpty && closed == [socket])
        #expect(fixture.events == [response(false)])
        fixture.input(.notificationSocket(socket, .values([Data([3])])))
        #expect(fixture.events == [response(false)])
        finish()
    }

    private var subscribedSocket: LinkSocketID {
        fixture.notificationSockets.last?.socket ?? LinkSocketID(number: 0, peer: peer)
    }

    @Test mutating func aValueOnTheBusIsTheEchoOfAnotherProgramsRead() {
        _ = subscribe()
        fixture.value([1])
        #expect(fixture.events.isEmpty)
        finish()
    }

    @Test(arguments: [("InProgress", ""), ("NotPermitted", "Notify acquired"), ("NotSupported", "")])
    mutating func aRefusedSocketMeansSignals(name: String, message: String) {
        setNotifying(true)
        fixture.refuse("AcquireNotify", name, message)
        #expect(fixture.waiting == ["StartNotify"])
        fixture.answer("StartNotify")
        fixture.value([1])
        #expect(fixture.events == [response(true), notified(1)])
    }

    @Test mutating func anATTErrorIsTheAnswer() {
        setNotifying(true)
        fixture.refuse("AcquireNotify", "Failed", "Operation failed with ATT error: 0x03")
        #expect(fixture.waiting.isEmpty)
        guard case .response(_, _, .failure(let error)) = fixture.events.first else {
            Issue.record("the subscription has no answer")
            return
        }
        #expect(error.attCode == 3)
        // The app may try again.
        setNotifying(true)
        #expect(fixture.waiting == ["AcquireNotify"])
    }

    @Test mutating func aSocketThatWasGivenBackIsWaitedFor() {
        _ = subscribe()
        setNotifying(false)
        setNotifying(true)
        // The daemon has not noticed the end of the first socket.
        fixture.refuse("AcquireNotify", "NotPermitted", "Notify acquired")
        #expect(fixture.waiting.isEmpty)
        fixture.fire(.link(peer, .attributeRetry))
        giveSocket()
        #expect(fixture.events == [response(false), response(true)])
        finish()
    }

    @Test mutating func aReplyWithoutSocketMeansSignals() {
        setNotifying(true)
        fixture.answer("AcquireNotify")
        #expect(fixture.waiting == ["StartNotify"])
    }

    @Test mutating func valuesBeforeTheEndOfTheLinkComeBeforeTheDisconnection() {
        let socket = subscribe()
        disconnect()
        #expect(fixture.notificationSockets.last?.action == .finish)
        fixture.input(.notificationSocket(socket, .values([Data([1])])))
        #expect(fixture.events == [notified(1)])
        fixture.input(.notificationSocket(socket, .closed))
        fixture.fire(.link(peer, .powerLoss))
        guard case .disconnected = fixture.events.last else {
            Issue.record("the end of the link is missing")
            return
        }
        // A socket needs no StopNotify.
        #expect(!fixture.waiting.contains("StopNotify"))
        finish()
    }

    @Test mutating func aSocketThatTheDaemonClosesIsReplacedBySignals() {
        let socket = subscribe()
        fixture.input(.notificationSocket(socket, .closed))
        #expect(fixture.waiting.isEmpty, "the link may be ending")
        fixture.fire(.link(peer, .closedSockets))
        #expect(fixture.waiting == ["StartNotify"] && fixture.warnings.count == 1)
        fixture.answer("StartNotify")
        fixture.value([1])
        #expect(fixture.events == [notified(1)])
        finish()
    }

    @Test mutating func aSubscriptionThatCannotBeReplacedEndsAndMayBeginAgain() {
        let socket = subscribe()
        fixture.input(.notificationSocket(socket, .closed))
        fixture.fire(.link(peer, .closedSockets))
        let refusal = DBusError(name: "org.bluez.Error.NotPermitted", message: "Not paired")
        fixture.answer("StartNotify", with: .failure(refusal))
        guard case .subscriptionEnded(link, characteristic, let error)? = fixture.events.last else {
            Issue.record("\(fixture.events)")
            return
        }
        #expect(error.attCode == 0x05)
        setNotifying(true)
        #expect(fixture.waiting == ["AcquireNotify"])
        finish()
    }

    @Test mutating func aClosedSocketOfALinkThatEndsIsNotReplaced() {
        let socket = subscribe()
        fixture.input(.notificationSocket(socket, .closed))
        disconnect()
        fixture.fire(.link(peer, .powerLoss))
        fixture.fire(.link(peer, .closedSockets))
        #expect(fixture.waiting.isEmpty && fixture.warnings.isEmpty)
        finish()
    }

    @Test mutating func theSocketIsClosedWhenTheAppDisconnects() {
        let socket = subscribe()
        fixture.command(.disconnect(peer: peer))
        #expect(closed == [socket] && fixture.waiting == ["Disconnect"])
        finish()
    }

    @Test mutating func theSocketIsClosedWithItsCharacteristic() {
        let socket = subscribe()
        fixture.receive(.interfacesRemoved(Fixture.characteristic, ["org.bluez.GattCharacteristic1"]))
        #expect(closed == [socket])
        finish()
    }

    @Test(arguments: [true, false])
    mutating func theSocketIsClosedWithTheAdapterOrTheDaemon(isDaemonThere: Bool) {
        let socket = subscribe()
        if isDaemonThere {
            fixture.set(Fixture.adapter, "org.bluez.Adapter1", ["Powered": .boolean(false)])
        } else {
            fixture.receive(.phase(.absent))
        }
        #expect(closed == [socket])
        finish()
    }

    @Test mutating func aReplyAfterTheEndOfTheLinkLeavesNoSocketOpen() {
        setNotifying(true)
        disconnect()
        fixture.fire(.link(peer, .powerLoss))
        let descriptor = dup(0)
        fixture.answer(
            "AcquireNotify", with: .success([.fileDescriptor(DBusFileDescriptor(adopting: descriptor)), .uint16(23)]))
        #expect(fixture.notificationSockets.isEmpty)
        #expect(fcntl(descriptor, F_GETFD) == -1)
    }
}
#endif
