#if os(Linux)
import BluetoothBackend
import FoundationEssentials
import Testing

@testable import BlueZ

/// L2CAP channels that centrals open, on the role machine alone.
@Suite struct PeripheralRoleMachineChannelTests {
    private let first = OperationID(rawValue: 1)
    private let second = OperationID(rawValue: 2)
    private let opening = ChannelPool.Opening(channel: ChannelID(rawValue: 7), credits: 100)

    private func address(_ text: String = "F0:F1:F2:F3:F4:01") throws -> L2CAPAddress {
        try #require(L2CAPAddress(text, isRandom: true))
    }

    /// Returns a fixture that listens at 0x81.
    private func listening() -> PeripheralRoleFixture {
        var fixture = PeripheralRoleFixture.serving()
        fixture.command(.publishChannel(operation: first, isEncryptionRequired: true))
        fixture.input(.listening(1, first, .success(0x81), isEncryptionRequired: true))
        return fixture
    }

    private func open() throws -> PeripheralRoleFixture {
        var fixture = listening()
        fixture.input(.channelAccepted(0x81, opening, try address()))
        return fixture
    }

    @Test func aPublishedChannelListensAtTheAdapter() {
        let fixture = listening()
        #expect(fixture.listens.map(\.local.text) == ["00:11:22:33:44:55"])
        #expect(fixture.listens.map(\.isEncryptionRequired) == [true])
        #expect(fixture.events == [.channelPublished(operation: first, psm: 0x81)])
    }

    @Test func whereThereAreNoSocketsPublishingFails() {
        var fixture = PeripheralRoleFixture.serving()
        let error = BackendError(.operationNotSupported, operation: "listen")
        fixture.command(.publishChannel(operation: first, isEncryptionRequired: false))
        fixture.input(.listening(1, first, .failure(error), isEncryptionRequired: false))
        #expect(fixture.events == [.operationFailed(operation: first, error: error)])
    }

    @Test func anAcceptedChannelNamesItsCentral() throws {
        let fixture = try open()
        #expect(
            fixture.events.last
                == .channelOpened(
                    channel: opening.channel, psm: 0x81, central: fixture.peer(PeripheralRoleFixture.one), credits: 100)
        )
    }

    @Test func onlyItsManagerUsesAChannel() throws {
        var fixture = try open()
        fixture.input(.activated(2))
        fixture.command(.channel(opening.channel, .send(Data([1]))), from: 2)
        #expect(fixture.actions.isEmpty)
        fixture.command(.channel(opening.channel, .send(Data([1]))))
        fixture.command(.channel(opening.channel, .consumed(3)))
        fixture.command(.channel(opening.channel, .close))
        fixture.command(.channel(opening.channel, .consumed(3)))
        #expect(
            fixture.actions.map(\.action) == [.command(.send(Data([1]))), .command(.consumed(3)), .command(.close)])
    }

    @Test func S154_whatIsPublishedNoMoreClosesItsChannels() throws {
        var fixture = try open()
        fixture.clear()
        fixture.command(.unpublishChannel(operation: second, psm: 0x81))
        #expect(fixture.stoppedListening == [0x81])
        #expect(fixture.actions.map(\.action) == [.command(.close)])
        #expect(
            fixture.events == [
                .channel(opening.channel, .closed), .channelUnpublished(operation: second, psm: 0x81),
            ])
        fixture.command(.unpublishChannel(operation: second, psm: 0x81))
        guard case .operationFailed(second, let error)? = fixture.events.last else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .invalidParameters)
    }

    @Test func powerEndsListenersAndChannelsInSilence() throws {
        var fixture = try open()
        fixture.clear()
        fixture.setPowered(false)
        #expect(fixture.events == [.stateChanged(.poweredOff)])
        #expect(fixture.stoppedListening == [0x81])
        #expect(fixture.actions.map(\.action) == [.abort])
    }

    @Test func aChannelThatNobodyListensForIsAborted() throws {
        var fixture = PeripheralRoleFixture.serving()
        fixture.input(.channelAccepted(0x81, opening, try address()))
        #expect(fixture.events.isEmpty)
        #expect(fixture.actions.map(\.action) == [.abort])
    }

    @Test func theEndOfAChannelIsReportedOnce() throws {
        var fixture = try open()
        fixture.clear()
        fixture.input(.channelEnded(opening.channel))
        fixture.input(.channelEnded(opening.channel))
        #expect(fixture.events == [.channel(opening.channel, .closed)])
    }
}
#endif
