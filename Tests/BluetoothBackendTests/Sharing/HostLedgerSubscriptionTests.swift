import BluetoothBackend
import Testing

/// The receivers of a notification, and the moments when the backend must subscribe.
struct HostLedgerSubscriptionTests {
    private let peer = Samples.peer
    private let attribute = Samples.attribute

    private func linked(_ managers: Int...) -> (HostLedger, [LinkID]) {
        var ledger = HostLedger()
        for manager in managers {
            _ = ledger.connect(
                manager, to: peer, operation: OperationID(rawValue: UInt64(manager)), options: ConnectOptions())
        }
        let links = ledger.linkUp(peer).compactMap(\.link)
        return (ledger, links)
    }

    @Test func theBackendActsForTheFirstAndTheLastSubscriber() {
        var (ledger, links) = linked(1, 2)
        #expect(ledger.setSubscribed(1, to: attribute, of: peer, true) == true)
        #expect(ledger.setSubscribed(1, to: attribute, of: peer, true) == false)
        #expect(ledger.setSubscribed(2, to: attribute, of: peer, true) == false)
        #expect(ledger.subscribers(of: attribute, at: peer).map(\.link) == links)
        #expect(ledger.setSubscribed(1, to: attribute, of: peer, false) == false)
        #expect(ledger.subscribers(of: attribute, at: peer).map(\.manager) == [2])
        #expect(ledger.setSubscribed(2, to: attribute, of: peer, false) == true)
        #expect(ledger.setSubscribed(2, to: attribute, of: peer, false) == false)
    }

    @Test func attributesAreDistinguished() {
        var (ledger, _) = linked(1)
        #expect(ledger.setSubscribed(1, to: attribute, of: peer, true) == true)
        #expect(ledger.setSubscribed(1, to: attribute.next, of: peer, true) == true)
        #expect(ledger.setSubscribed(1, to: attribute, of: peer, false) == true)
        #expect(ledger.subscribers(of: attribute.next, at: peer).count == 1)
    }

    @Test func onlyHoldersSubscribe() {
        var (ledger, _) = linked(1)
        #expect(ledger.setSubscribed(2, to: attribute, of: peer, true) == false)
        #expect(ledger.setSubscribed(1, to: attribute, of: Samples.otherPeer, true) == false)
        #expect(ledger.setSubscribed(1, to: attribute, of: peer, true) == true)
        #expect(ledger.setSubscribed(1, to: attribute, of: peer, false) == true)
    }

    @Test func aHolderThatLeavesIsSubscribedNoMore() {
        var (ledger, _) = linked(1, 2)
        _ = ledger.setSubscribed(1, to: attribute, of: peer, true)
        _ = ledger.disconnect(1, from: peer)
        #expect(ledger.subscribers(of: attribute, at: peer).isEmpty)
        #expect(ledger.setSubscribed(2, to: attribute, of: peer, true) == true)
    }

    @Test func subscriptionsEndWithTheLink() {
        var (ledger, _) = linked(1)
        _ = ledger.setSubscribed(1, to: attribute, of: peer, true)
        _ = ledger.linkDown(peer, isReconnecting: false)
        #expect(ledger.setSubscribed(1, to: attribute, of: peer, false) == false)
        _ = ledger.connect(1, to: peer, operation: OperationID(rawValue: 9), options: ConnectOptions())
        _ = ledger.linkUp(peer)
        #expect(ledger.subscribers(of: attribute, at: peer).isEmpty)
        #expect(ledger.setSubscribed(1, to: attribute, of: peer, true) == true)
    }
}
