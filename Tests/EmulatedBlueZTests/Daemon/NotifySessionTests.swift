import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// Sessions of `StartNotify` without a link and before the device confirms them, and the calls that end them.
@Suite struct NotifySessionTests {
    private static let characteristic = "org.bluez.GattCharacteristic1"
    private static let notifying = DaemonFixture.device + "/service0008/char0009"
    private static let readable = DaemonFixture.device + "/service0008/char000c"

    /// Returns a fixture whose device was connected and discovered, and has lost its link.
    private func disconnected() -> DaemonFixture {
        var fixture = DaemonFixture.connected()
        fixture.report(.disconnected(link: DaemonFixture.link, reason: .remote, at: Date(), isReconnecting: false))
        _ = fixture.lines()
        return fixture
    }

    private func reconnect(_ fixture: inout DaemonFixture) {
        fixture.call("Connect", on: DaemonFixture.device, "org.bluez.Device1")
        fixture.becomeConnected()
    }

    @Test func aSessionThatBeginsWithoutALinkReceivesTheValuesOfTheNextOne() {
        var fixture = disconnected()
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic)
        #expect(fixture.lines() == ["answer 3"])
        reconnect(&fixture)
        fixture.respond(.notifying(true))
        fixture.report(.valueNotified(link: DaemonFixture.link, attribute: 2, value: Data([7])))
        #expect(
            fixture.lines().filter { !$0.contains("MTU") }.suffix(5) == [
                "central setNotifying", "dev_C0_DE_00_00_18_0D ServicesResolved=true", "read appearance",
                "char0009 Notifying=true", "char0009 Value=0x07",
            ])
    }

    @Test func aSessionThatWaitsForALinkIsInProgressForItsClient() {
        var fixture = disconnected()
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic)
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic)
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic, from: ":1.2")
        fixture.call("StopNotify", on: Self.notifying, Self.characteristic)
        #expect(fixture.lines() == ["answer 3", "refuse 4 InProgress: In Progress", "answer 5", "answer 6"])
        reconnect(&fixture)
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic, from: ":1.2")
        #expect(fixture.lines().last == "answer 8", "the session is registered on the link")
    }

    @Test func aDeviceThatRefusesTheSubscriptionEndsTheSessionsOfEarlierLinks() {
        var fixture = disconnected()
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic)
        reconnect(&fixture)
        fixture.respond(.failure(.att(0x05, operation: "subscribe")))
        _ = fixture.lines()
        fixture.call("StopNotify", on: Self.notifying, Self.characteristic)
        #expect(fixture.lines() == ["refuse 5 Failed: No notify session started"])
    }

    @Test func withoutNotificationsThereIsNoSessionWithoutALinkEither() {
        var fixture = disconnected()
        fixture.call("StartNotify", on: Self.readable, Self.characteristic)
        #expect(fixture.lines() == ["refuse 3 NotSupported: Operation is not supported"])
    }

    @Test func noSessionBeginsWhileTheDeviceIsBeingDisconnected() {
        var fixture = DaemonFixture.connected()
        fixture.call("Disconnect", on: DaemonFixture.device, "org.bluez.Device1")
        _ = fixture.lines()
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic)
        #expect(fixture.lines() == ["refuse 4 NotConnected: Not Connected"])
    }

    @Test func aValueBeforeTheConfirmationIsASignalBeforeTheAnswer() {
        var fixture = DaemonFixture.connected()
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic)
        fixture.call("StartNotify", on: Self.notifying, Self.characteristic)
        fixture.report(.valueNotified(link: DaemonFixture.link, attribute: 2, value: Data([9])))
        fixture.respond(.notifying(true))
        #expect(
            fixture.lines() == [
                "central setNotifying", "answer 4", "char0009 Value=0x09", "char0009 Notifying=true", "answer 3",
            ], "the client's second call finds the session registered")
    }

    @Test func aValueBeforeTheSocketIsThereIsDropped() {
        var fixture = DaemonFixture.connected()
        fixture.call("AcquireNotify", .properties([:]), on: Self.notifying, Self.characteristic)
        fixture.call("AcquireNotify", .properties([:]), on: Self.notifying, Self.characteristic)
        fixture.report(.valueNotified(link: DaemonFixture.link, attribute: 2, value: Data([9])))
        #expect(fixture.lines() == ["central setNotifying", "refuse 4 NotPermitted: Notify acquired"])
    }

    @Test func stopNotifyClosesTheSocketOfAcquireNotify() {
        var fixture = DaemonFixture.connected()
        fixture.call("AcquireNotify", .properties([:]), on: Self.notifying, Self.characteristic)
        fixture.respond(.notifying(true))
        _ = fixture.lines()
        fixture.call("StopNotify", on: Self.notifying, Self.characteristic, from: ":1.2")
        #expect(
            fixture.lines() == [
                "close a socket", "central setNotifying", "char0009 NotifyAcquired=false Notifying=false", "answer 4",
            ])
    }

    @Test func withoutALinkNothingIsAcquiredWhateverTheProperties() {
        var fixture = disconnected()
        for member in ["AcquireNotify", "AcquireWrite"] {
            fixture.call(member, .properties([:]), on: Self.readable, Self.characteristic)
        }
        #expect(fixture.lines() == ["refuse 3 Failed: Not connected", "refuse 4 Failed: Not connected"])
    }
}
