import BluetoothBackend
import Testing

@testable import CoreBluetoothClasses

/// The restoration of an earlier process's state in the machine.
@Suite struct RestorationMachineTests {
    private let peer = MachineFixture.peer
    private let other = MachineFixture.other
    private let link = LinkID(rawValue: 9)
    private let battery = ServiceRecord(id: AttributeID(rawValue: 1), uuid: "180F", isPrimary: true)
    private let level = CharacteristicRecord(
        id: AttributeID(rawValue: 2), uuid: "2A19", properties: [.read, .notify])

    private var connected: RestoredCentralState.Peer {
        RestoredCentralState.Peer(
            summary: PeerSummary(id: peer, name: "peer"), operation: OperationID(rawValue: 40), link: link,
            parameters: LinkParameters(mtu: 185, writeCredits: 3),
            services: [.init(record: battery, characteristics: [level], notifying: [level.id])])
    }

    private var connecting: RestoredCentralState.Peer {
        RestoredCentralState.Peer(summary: PeerSummary(id: other), operation: OperationID(rawValue: 41))
    }

    private func restored(_ state: RestoredCentralState) -> CentralStateMachine {
        var machine = CentralStateMachine(canRestore: true)
        machine.adopt(PeerHandle(id: peer, generation: 1), name: "peer")
        machine.adopt(PeerHandle(id: other, generation: 2), name: nil)
        _ = machine.handle(.restored(state))
        return machine
    }

    @Test func S142_aConnectedPeerIsConnectedWithWhatWasKnown() throws {
        var machine = restored(RestoredCentralState(peers: [connected]))
        let state = try #require(machine.peer(PeerHandle(id: peer, generation: 1)))
        #expect(state.state == .connected)
        #expect(state.client.mtu == 185)
        #expect(state.client.writeCredits == 3)
        #expect(state.client.notifying == [level.id])
        _ = machine.handle(.stateChanged(.poweredOn))
        #expect(
            machine.handle(.valueNotified(link: link, attribute: level.id, value: .init([1]))).callbacks
                == [.notified(peer, level.id, .init([1]))])
    }

    @Test func S142_aConnectionUnderWayStaysUnderWay() {
        var machine = restored(RestoredCentralState(peers: [connecting]))
        #expect(machine.peer(PeerHandle(id: other, generation: 2))?.state == .connecting)
        #expect(machine.handle(.stateChanged(.poweredOn)).commands == [])
        let event = CentralEvent.connected(
            peer: other, link: link, operation: OperationID(rawValue: 41),
            parameters: LinkParameters(mtu: 23, writeCredits: 1))
        #expect(machine.handle(event).callbacks == [.connected(other)])
    }

    @Test func S142_theScanGoesOnWhenThereIsPower() {
        let scan = ScanParameters(services: ["180F"], allowDuplicates: true)
        var machine = restored(RestoredCentralState(scan: scan))
        #expect(machine.isScanning)
        #expect(machine.handle(.stateChanged(.poweredOn)).commands == [.startScan(scan)])
        _ = machine.handle(.stateChanged(.poweredOff))
        #expect(machine.handle(.stateChanged(.poweredOn)).commands == [])
    }

    @Test func S142_withoutPowerNothingGoesOn() {
        var machine = restored(RestoredCentralState(peers: [connected, connecting], scan: ScanParameters()))
        _ = machine.handle(.stateChanged(.poweredOff))
        #expect(!machine.isScanning)
        #expect(machine.peer(PeerHandle(id: peer, generation: 1))?.state == .disconnected)
        #expect(machine.peer(PeerHandle(id: other, generation: 2))?.state == .disconnected)
        #expect(machine.handle(.stateChanged(.poweredOn)).commands == [])
    }

    @Test func S141_noCommandIsSentBeforeThereIsPower() {
        var machine = restored(RestoredCentralState(peers: [connected]))
        let handle = PeerHandle(id: peer, generation: 1)
        #expect(machine.request(handle, .readRSSI) == [.misuse(.notConnected(peer))])
        #expect(machine.cancel(handle) == [.misuse(.notPoweredOn)])
        #expect(machine.scan(ScanParameters()) == [.misuse(.notPoweredOn)])
    }

    /// A new operation must not be mistaken for one of the earlier process.
    @Test func operationsGoOnBehindTheRestoredOnes() {
        var machine = restored(RestoredCentralState(peers: [connected]))
        #expect(machine.newOperation() > OperationID(rawValue: 40))
    }

    @Test func S144_withoutAnIdentifierNothingIsRestored() {
        var machine = CentralStateMachine()
        machine.adopt(PeerHandle(id: peer, generation: 1), name: nil)
        let state = RestoredCentralState(peers: [connected], scan: ScanParameters())
        #expect(machine.handle(.restored(state)) == [.misuse(.noRestoreIdentifier)])
        #expect(!machine.isScanning)
        #expect(machine.peer(PeerHandle(id: peer, generation: 1))?.state == .disconnected)
    }

    // MARK: Connection events

    @Test func S155_aRegistrationIsSentAndReplacedAndCleared() {
        var machine = MachineFixture.poweredOn().machine
        let first = ConnectionEventFilter(services: ["180F"])
        let second = ConnectionEventFilter(peers: [peer])
        #expect(machine.registerForConnectionEvents(first) == [.submit(.setConnectionEventFilter(first))])
        #expect(machine.registerForConnectionEvents(second) == [.submit(.setConnectionEventFilter(second))])
        let event = CentralEvent.connectionEvent(peer: other, isConnected: true)
        #expect(machine.handle(event) == [.callback(.connectionEvent(other, isConnected: true))])
        #expect(machine.registerForConnectionEvents(nil) == [.submit(.setConnectionEventFilter(nil))])
        #expect(machine.handle(event) == [])
    }

    @Test func S155_aRegistrationOutlivesThePower() {
        var machine = MachineFixture.poweredOn().machine
        let filter = ConnectionEventFilter(services: ["180F"])
        _ = machine.registerForConnectionEvents(filter)
        #expect(machine.handle(.stateChanged(.poweredOff)).commands == [])
        #expect(machine.registerForConnectionEvents(nil) == [.misuse(.notPoweredOn)])
        #expect(machine.handle(.stateChanged(.poweredOn)).commands == [.setConnectionEventFilter(filter)])
    }

    @Test func S156_authorizationIsReportedWhenItFlipsAndEndsWithTheLink() {
        var fixture = MachineFixture.connected()
        let event = CentralEvent.ancsAuthorizationChanged(peer: peer, isAuthorized: true)
        #expect(fixture.machine.handle(event) == [.callback(.ancsAuthorizationUpdated(peer))])
        #expect(fixture.machine.handle(event) == [])
        #expect(fixture.machine.peer(MachineFixture.handle)?.isANCSAuthorized == true)
        _ = fixture.machine.handle(
            .disconnected(link: fixture.link, reason: .remote, at: MachineFixture.date, isReconnecting: false))
        #expect(fixture.machine.peer(MachineFixture.handle)?.isANCSAuthorized == false)
    }

    // MARK: Reconnecting

    @Test func S48_S49_aReconnectedLinkStartsAnew() {
        var fixture = MachineFixture.connected()
        let operation = fixture.operation
        _ = fixture.read(2)
        let effects = fixture.machine.handle(
            .disconnected(link: fixture.link, reason: .timeout, at: MachineFixture.date, isReconnecting: true))
        guard
            case .disconnected(peer, at: MachineFixture.date, isReconnecting: true, let error)? = effects.callbacks
                .first
        else {
            Issue.record("\(effects)")
            return
        }
        #expect(error?.code == .connectionTimeout)
        #expect(fixture.state == .connecting)
        let new = LinkID(rawValue: 70)
        #expect(
            fixture.machine.handle(
                .connected(
                    peer: peer, link: new, operation: operation, parameters: LinkParameters(mtu: 50, writeCredits: 1))
            ).callbacks == [.connected(peer)])
        #expect(fixture.machine.peer(MachineFixture.handle)?.client.pending.isEmpty == true)
        #expect(fixture.machine.peer(MachineFixture.handle)?.link == new)
    }
}
