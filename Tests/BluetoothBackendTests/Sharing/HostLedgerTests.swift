import BluetoothBackend
import Testing

/// Links that managers share, connect and release.
struct HostLedgerTests {
    private let peer = Samples.peer
    private let plain = ConnectOptions()
    private let lasting = ConnectOptions(autoReconnect: true)

    private func operation(_ number: UInt64) -> OperationID { OperationID(rawValue: number) }

    /// Returns a ledger with a link to the peer that these managers hold, in this order.
    private func linked(_ managers: Int..., options: ConnectOptions = ConnectOptions()) -> (HostLedger, [LinkID]) {
        var ledger = HostLedger()
        for manager in managers {
            _ = ledger.connect(manager, to: peer, operation: operation(UInt64(manager)), options: options)
        }
        let links = ledger.linkUp(peer).compactMap(\.link)
        return (ledger, links)
    }

    // MARK: Pending connects

    @Test func theFirstWishDialsAndTheNextOnesWait() {
        var ledger = HostLedger()
        #expect(ledger.connect(1, to: peer, operation: operation(1), options: plain) == .connect)
        #expect(ledger.connect(2, to: peer, operation: operation(2), options: plain) == .wait)
        #expect(!ledger.isUp(peer))
        let leases = ledger.linkUp(peer)
        #expect(leases.map(\.manager) == [1, 2])
        #expect(leases.map(\.operation) == [operation(1), operation(2)])
        #expect(Set(leases.compactMap(\.link)).count == 2)
        #expect(ledger.isUp(peer))
    }

    @Test func aSecondWishOfOneManagerReplacesTheFirst() {
        var ledger = HostLedger()
        _ = ledger.connect(1, to: peer, operation: operation(1), options: plain)
        #expect(ledger.connect(1, to: peer, operation: operation(9), options: lasting) == .wait)
        #expect(ledger.leases(of: peer).map(\.operation) == [operation(9)])
        #expect(ledger.leases(of: peer).map(\.options) == [lasting])
    }

    @Test func aFailedConnectIsReportedToEachThatWaited() {
        var ledger = HostLedger()
        _ = ledger.connect(1, to: peer, operation: operation(1), options: plain)
        _ = ledger.connect(2, to: peer, operation: operation(2), options: plain)
        #expect(ledger.connectFailed(peer).map(\.manager) == [1, 2])
        #expect(ledger.connectFailed(peer).isEmpty)
        #expect(ledger.connect(1, to: peer, operation: operation(3), options: plain) == .connect)
    }

    @Test func aLateFailureDoesNotTouchALinkThatIsUp() {
        var (ledger, links) = linked(1)
        #expect(ledger.connectFailed(peer).isEmpty)
        #expect(ledger.peer(of: links[0]) == peer)
    }

    @Test func theBackendStopsConnectingWhenTheLastConnectIsWithdrawn() {
        var ledger = HostLedger()
        _ = ledger.connect(1, to: peer, operation: operation(1), options: plain)
        _ = ledger.connect(2, to: peer, operation: operation(2), options: plain)
        #expect(ledger.disconnect(1, from: peer) == .withdrawn(isLast: false))
        #expect(ledger.disconnect(2, from: peer) == .withdrawn(isLast: true))
        #expect(ledger.disconnect(2, from: peer) == .nothing)
        #expect(ledger.wantedPeers.isEmpty)
    }

    @Test func aLinkThatNoOneWantsAnyMoreIsReportedToNoOne() {
        var ledger = HostLedger()
        _ = ledger.connect(1, to: peer, operation: operation(1), options: plain)
        _ = ledger.disconnect(1, from: peer)
        #expect(ledger.linkUp(peer).isEmpty)
        #expect(ledger.leases(of: peer).isEmpty)
    }

    // MARK: Shared links

    @Test func S38_aConnectToALinkThatIsUpIsReportedAtOnce() throws {
        var (ledger, links) = linked(1)
        guard case .linked(let share) = ledger.connect(2, to: peer, operation: operation(2), options: plain) else {
            Issue.record("the link is up")
            return
        }
        #expect(share.manager == 2)
        #expect(share.operation == operation(2))
        let link = try #require(share.link)
        #expect(link != links[0])
        #expect(ledger.peer(of: link) == peer)
    }

    @Test func aCancelEndsOneShareWhileOthersKeepTheLink() {
        var (ledger, links) = linked(1, 2)
        #expect(ledger.disconnect(1, from: peer) == .closed(links[0], isLast: false))
        #expect(ledger.peer(of: links[0]) == nil)
        #expect(ledger.peer(of: links[1]) == peer)
        #expect(ledger.isUp(peer))
        #expect(ledger.disconnect(2, from: peer) == .closed(links[1], isLast: true))
    }

    @Test func aLossIsReportedToEachHolder() {
        var (ledger, links) = linked(1, 2)
        let ended = ledger.linkDown(peer, isReconnecting: true)
        #expect(ended.map(\.manager) == [1, 2])
        #expect(ended.map(\.link) == links)
        #expect(!ledger.isUp(peer))
        #expect(links.allSatisfy { ledger.peer(of: $0) == nil })
        #expect(ledger.linkDown(peer, isReconnecting: true).isEmpty)
        #expect(ledger.wantedPeers.isEmpty)
    }

    @Test func aSecondReportThatTheLinkIsUpReachesNoOne() {
        var (ledger, links) = linked(1)
        #expect(ledger.linkUp(peer).isEmpty)
        #expect(ledger.leases(of: peer).map(\.link) == [links[0]])
    }

    @Test func aHolderThatConnectsAgainGetsANewLink() {
        var (ledger, links) = linked(1)
        _ = ledger.setSubscribed(1, to: Samples.attribute, of: peer, true)
        guard case .linked(let share) = ledger.connect(1, to: peer, operation: operation(2), options: plain) else {
            Issue.record("the link is up")
            return
        }
        #expect(share.link != links[0])
        #expect(ledger.peer(of: links[0]) == nil)
        #expect(ledger.leases(of: peer).count == 1)
        #expect(ledger.subscribers(of: Samples.attribute, at: peer).isEmpty)
    }

    @Test func linkNumbersAreNeverUsedAgain() {
        var (ledger, links) = linked(1)
        _ = ledger.linkDown(peer, isReconnecting: false)
        _ = ledger.connect(1, to: peer, operation: operation(2), options: plain)
        links += ledger.linkUp(peer).compactMap(\.link)
        ledger.removeAll()
        _ = ledger.connect(1, to: peer, operation: operation(3), options: plain)
        links += ledger.linkUp(peer).compactMap(\.link)
        #expect(links.count == 3)
        #expect(links == Set(links).sorted())
    }

    // MARK: Reconnecting

    @Test func managersThatWantTheirLinkBackStayPending() {
        var ledger = HostLedger()
        _ = ledger.connect(1, to: peer, operation: operation(1), options: lasting)
        _ = ledger.connect(2, to: peer, operation: operation(2), options: plain)
        _ = ledger.linkUp(peer)
        #expect(ledger.linkDown(peer, isReconnecting: true).count == 2)
        #expect(ledger.leases(of: peer).map(\.manager) == [1])
        #expect(ledger.leases(of: peer).map(\.link) == [nil])
        #expect(ledger.linkUp(peer).map(\.operation) == [operation(1)])
    }

    @Test func nobodyKeepsAWishWhenTheHostEndedTheLink() {
        var (ledger, _) = linked(1, options: lasting)
        _ = ledger.linkDown(peer, isReconnecting: false)
        #expect(ledger.leases(of: peer).isEmpty)
    }

    // MARK: A link that is going down

    @Test func aConnectWhileTheLinkGoesDownWaitsForItsEnd() {
        var (ledger, links) = linked(1)
        #expect(ledger.disconnect(1, from: peer) == .closed(links[0], isLast: true))
        #expect(ledger.isUp(peer))
        #expect(ledger.connect(1, to: peer, operation: operation(2), options: plain) == .wait)
        #expect(ledger.linkDown(peer, isReconnecting: false).isEmpty)
        #expect(ledger.leases(of: peer).map(\.operation) == [operation(2)])
        #expect(ledger.linkUp(peer).map(\.operation) == [operation(2)])
    }

    @Test func withdrawnWishesDoNotMakeAClosingLinkUsableAgain() {
        var (ledger, _) = linked(1)
        _ = ledger.disconnect(1, from: peer)
        #expect(ledger.connect(2, to: peer, operation: operation(2), options: plain) == .wait)
        #expect(ledger.connect(3, to: peer, operation: operation(3), options: plain) == .wait)
        #expect(ledger.disconnect(2, from: peer) == .withdrawn(isLast: false))
        #expect(ledger.connect(4, to: peer, operation: operation(4), options: plain) == .wait)
        #expect(ledger.linkDown(peer, isReconnecting: false).isEmpty)
        #expect(ledger.leases(of: peer).map(\.manager) == [3, 4])
    }

    // MARK: Managers and power

    @Test func aManagerThatGoesLeavesOthersTheirLinks() {
        var (ledger, links) = linked(1, 2)
        _ = ledger.connect(1, to: Samples.otherPeer, operation: operation(3), options: plain)
        ledger.startScan(1, ScanParameters())
        #expect(ledger.remove(1) == [Samples.otherPeer])
        #expect(ledger.mergedScan == nil)
        #expect(ledger.leases(of: peer).map(\.link) == [links[1]])
        #expect(ledger.remove(2) == [peer])
        #expect(ledger.remove(2).isEmpty)
    }

    @Test func S12_withThePowerAllIsForgotten() {
        var (ledger, links) = linked(1, 2)
        ledger.startScan(1, ScanParameters())
        ledger.removeAll()
        #expect(links.allSatisfy { ledger.peer(of: $0) == nil })
        #expect(ledger.wantedPeers.isEmpty)
        #expect(ledger.scanners.isEmpty)
        #expect(ledger.linkDown(peer, isReconnecting: true).isEmpty)
        #expect(ledger.connect(1, to: peer, operation: operation(3), options: plain) == .connect)
    }

    @Test func wantedPeersAreSorted() {
        var ledger = HostLedger()
        _ = ledger.connect(1, to: Samples.otherPeer, operation: operation(1), options: plain)
        _ = ledger.connect(1, to: peer, operation: operation(2), options: plain)
        #expect(ledger.wantedPeers == [peer, Samples.otherPeer])
    }
}
