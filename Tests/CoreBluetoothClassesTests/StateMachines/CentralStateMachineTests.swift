import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothClasses

@Suite struct CentralStateMachineTests {
    private let peer = MachineFixture.peer
    private let handle = MachineFixture.handle

    // MARK: State

    @Test func S1_stateIsUnknownAtFirst() {
        #expect(CentralStateMachine().state == .unknown)
    }

    @Test func S5_onlyAChangeOfStateIsReported() {
        var machine = CentralStateMachine()
        #expect(machine.handle(.stateChanged(.poweredOn)).callbacks == [.stateUpdated])
        #expect(machine.handle(.stateChanged(.poweredOn)).isEmpty)
        #expect(machine.state == .poweredOn)
    }

    @Test(arguments: [AdapterState.unknown, .resetting, .unsupported, .unauthorized, .poweredOff])
    func S9_commandsBelowPoweredOnAreLoggedAndIgnored(state: AdapterState) {
        var machine = CentralStateMachine()
        _ = machine.handle(.stateChanged(state))
        machine.adopt(handle, name: nil)
        #expect(machine.scan(ScanParameters()) == [.misuse(.notPoweredOn)])
        #expect(machine.stopScan() == [.misuse(.notPoweredOn)])
        #expect(machine.connect(handle, options: ConnectOptions(), startDelay: .zero) == [.misuse(.notPoweredOn)])
        #expect(machine.cancel(handle) == [.misuse(.notPoweredOn)])
        #expect(machine.registerForConnectionEvents(nil) == [.misuse(.notPoweredOn)])
        #expect(!machine.isScanning)
        #expect(machine.peer(handle)?.state == .disconnected)
    }

    @Test func S11_powerOffEndsScanAndConnections() {
        var fixture = MachineFixture.connected()
        _ = fixture.machine.scan(ScanParameters())
        _ = fixture.machine.handle(.stateChanged(.poweredOff))
        #expect(!fixture.machine.isScanning)
        #expect(fixture.state == .disconnected)
    }

    @Test func S12_powerOffCallsNoDidDisconnect() {
        var fixture = MachineFixture.connected()
        let effects = fixture.machine.handle(.stateChanged(.poweredOff))
        #expect(effects.callbacks == [.stateUpdated])
        #expect(
            fixture.machine.handle(
                .disconnected(link: fixture.link, reason: .local, at: MachineFixture.date, isReconnecting: false)
            ).isEmpty)
    }

    @Test func S13_aPendingConnectDoesNotSurvivePowerOff() {
        var fixture = MachineFixture.connecting()
        let late = fixture.connectedEvent
        _ = fixture.machine.handle(.stateChanged(.poweredOff))
        _ = fixture.machine.handle(.stateChanged(.poweredOn))
        #expect(fixture.machine.handle(late).isEmpty)
        #expect(fixture.state == .disconnected)
    }

    @Test func S14_peripheralsSurvivePowerOffWithoutTheirServices() {
        var fixture = MachineFixture.connected()
        #expect(fixture.machine.handle(.stateChanged(.poweredOff)).contains(.invalidateAttributes(peer)))
        _ = fixture.machine.handle(.stateChanged(.poweredOn))
        #expect(
            fixture.machine.connect(handle, options: ConnectOptions(), startDelay: .zero).commands.count == 1)
    }

    @Test(arguments: [AdapterState.unknown, .resetting, .unsupported, .unauthorized])
    func S15_aStateBelowPoweredOffInvalidatesPeripherals(state: AdapterState) {
        var fixture = MachineFixture.connected()
        #expect(fixture.machine.handle(.stateChanged(state)).contains(.invalidatePeripherals))
        _ = fixture.machine.handle(.stateChanged(.poweredOn))
        #expect(
            fixture.machine.connect(handle, options: ConnectOptions(), startDelay: .zero)
                == [.misuse(.stalePeripheral(peer))])
    }

    // MARK: Scanning

    @Test func S20_scanningAgainReplacesTheScan() {
        var fixture = MachineFixture.poweredOn()
        let second = ScanParameters(services: ["180D"], allowDuplicates: true)
        #expect(fixture.machine.scan(ScanParameters()).commands == [.startScan(ScanParameters())])
        #expect(fixture.machine.scan(second).commands == [.startScan(second)])
    }

    @Test func S23_stopScanIsSilentAndWithoutEffectWhenIdle() {
        var fixture = MachineFixture.poweredOn()
        #expect(fixture.machine.stopScan().isEmpty)
        _ = fixture.machine.scan(ScanParameters())
        #expect(fixture.machine.isScanning)
        #expect(fixture.machine.stopScan() == [.submit(.stopScan)])
        #expect(!fixture.machine.isScanning)
    }

    @Test func S23_nothingIsDiscoveredAfterStopScan() {
        var fixture = MachineFixture.poweredOn()
        let report = Discovery(peer: peer, name: "peer", advertisement: Advertisement(), rssi: -40)
        _ = fixture.machine.scan(ScanParameters())
        #expect(fixture.machine.handle(.discovered(report)).callbacks == [.discovered(report)])
        _ = fixture.machine.stopScan()
        #expect(fixture.machine.handle(.discovered(report)).isEmpty)
    }

    // MARK: Objects

    @Test func S31_releaseWhileConnectingCancelsWithALogLine() {
        var fixture = MachineFixture.connecting()
        #expect(
            fixture.machine.released(handle)
                == [.misuse(.unusedWhileConnecting(peer)), .submit(.disconnect(peer: peer))])
    }

    @Test func S31_releaseWhileConnectedDisconnectsWithALogLineAndNoCallback() {
        var fixture = MachineFixture.connected()
        #expect(
            fixture.machine.released(handle)
                == [.misuse(.unusedWhileConnected(peer)), .submit(.disconnect(peer: peer))])
        #expect(
            fixture.machine.handle(
                .disconnected(link: fixture.link, reason: .local, at: MachineFixture.date, isReconnecting: false)
            ).isEmpty)
    }

    @Test func aLateReleaseBesideANewObjectOfTheSameIdentifierIsIgnored() {
        var fixture = MachineFixture.connected()
        fixture.machine.adopt(PeerHandle(id: peer, generation: 2), name: "peer")
        #expect(fixture.machine.released(handle).isEmpty)
        #expect(fixture.machine.peer(PeerHandle(id: peer, generation: 2))?.state == .connected)
    }

    // MARK: Connecting

    @Test func S34_connectIsConnectingAtOnce() {
        #expect(MachineFixture.connecting().state == .connecting)
    }

    @Test func S36_aLinkMakesConnectedThenTheCallback() {
        var fixture = MachineFixture.connecting()
        #expect(fixture.machine.handle(fixture.connectedEvent).callbacks == [.connected(peer)])
        #expect(fixture.state == .connected)
    }

    @Test func S37_aFailureEndsTheRequest() {
        var fixture = MachineFixture.connecting()
        let error = BackendError(.connectionFailed, operation: "connect")
        let event = CentralEvent.connectFailed(peer: peer, operation: fixture.operation, error: error)
        #expect(fixture.machine.handle(event).callbacks == [.connectFailed(peer, error)])
        #expect(fixture.state == .disconnected)
        #expect(fixture.machine.handle(event).isEmpty)
    }

    @Test func S39_connectWhenConnectedIsReportedAgain() {
        var fixture = MachineFixture.connected()
        let effects = fixture.machine.connect(handle, options: ConnectOptions(), startDelay: .zero)
        #expect(effects == [.complete(.connectedAgain(handle))])
        #expect(fixture.machine.handle(.connectedAgain(handle)).callbacks == [.connected(peer)])
    }

    @Test func S39_connectWhenConnectingKeepsOneRequest() {
        var fixture = MachineFixture.connecting()
        #expect(fixture.machine.connect(handle, options: ConnectOptions(), startDelay: .zero).isEmpty)
    }

    @Test func S40_cancelWhenConnectedIsDisconnectingThenDisconnectedWithoutError() {
        var fixture = MachineFixture.connected()
        #expect(fixture.machine.cancel(handle) == [.submit(.disconnect(peer: peer))])
        #expect(fixture.state == .disconnecting)
        let effects = fixture.machine.handle(
            .disconnected(link: fixture.link, reason: .local, at: MachineFixture.date, isReconnecting: false))
        #expect(
            effects.callbacks == [.disconnected(peer, at: MachineFixture.date, isReconnecting: false, error: nil)])
        #expect(fixture.state == .disconnected)
    }

    @Test func S40_aReasonThatComesDuringTheCancelIsNoError() {
        var fixture = MachineFixture.connected()
        _ = fixture.machine.cancel(handle)
        let effects = fixture.machine.handle(
            .disconnected(link: fixture.link, reason: .timeout, at: MachineFixture.date, isReconnecting: true))
        #expect(
            effects.callbacks == [.disconnected(peer, at: MachineFixture.date, isReconnecting: false, error: nil)])
        #expect(fixture.state == .disconnected)
    }

    @Test func S42_cancelWhileConnectingIsADisconnectionWithoutError() {
        var fixture = MachineFixture.connecting()
        let late = fixture.connectedEvent
        #expect(
            fixture.machine.cancel(handle)
                == [.submit(.disconnect(peer: peer)), .complete(.connectCancelled(handle))])
        #expect(fixture.state == .disconnected)
        #expect(
            fixture.machine.handle(.connectCancelled(handle)).callbacks
                == [.disconnected(peer, at: nil, isReconnecting: false, error: nil)])
        #expect(fixture.machine.handle(late).isEmpty, "a link that came too late is no connection")
    }

    @Test func S42_cancelWhenDisconnectedDoesNothing() {
        var fixture = MachineFixture.poweredOn()
        #expect(fixture.machine.cancel(handle).isEmpty)
    }

    @Test func aLinkOfACancelledAttemptIsNotTakenForTheNextOne() {
        var fixture = MachineFixture.connecting()
        let first = fixture.connectedEvent
        _ = fixture.machine.cancel(handle)
        _ = fixture.machine.connect(handle, options: ConnectOptions(), startDelay: .zero)
        #expect(fixture.machine.handle(first).isEmpty)
        #expect(fixture.state == .connecting)
    }

    @Test(arguments: [
        (DisconnectReason.remote, BackendError.Code?.some(.peerDisconnected)), (.timeout, .connectionTimeout),
        (.authentication, .encryptionTimedOut), (.unknown, .peerDisconnected), (.local, nil),
    ])
    func S44_theReasonDecidesTheError(reason: DisconnectReason, code: BackendError.Code?) {
        var fixture = MachineFixture.connected()
        let effects = fixture.machine.handle(
            .disconnected(link: fixture.link, reason: reason, at: MachineFixture.date, isReconnecting: false))
        guard case .disconnected(_, _, _, let error)? = effects.callbacks.first else {
            Issue.record("no disconnection in \(effects)")
            return
        }
        #expect(error?.code == code)
    }

    @Test func S46_pendingOperationsVanishWithTheLink() {
        var fixture = MachineFixture.connected()
        let operation = fixture.read(1)
        _ = fixture.machine.handle(
            .disconnected(link: fixture.link, reason: .remote, at: MachineFixture.date, isReconnecting: false))
        #expect(fixture.machine.handle(.response(link: fixture.link, operation: operation, .value(Data()))).isEmpty)
    }

    @Test func S48_autoReconnectKeepsConnectingAndReportsIt() {
        var fixture = MachineFixture.connected()
        let again = CentralEvent.connected(
            peer: peer, link: LinkID(rawValue: 8), operation: fixture.operation,
            parameters: LinkParameters(mtu: 23, writeCredits: 1))
        let effects = fixture.machine.handle(
            .disconnected(link: fixture.link, reason: .timeout, at: MachineFixture.date, isReconnecting: true))
        guard case .disconnected(_, _, true, _)? = effects.callbacks.first else {
            Issue.record("not reconnecting in \(effects)")
            return
        }
        #expect(fixture.state == .connecting)
        #expect(fixture.machine.handle(again).callbacks == [.connected(peer)])
    }

    @Test func S48_cancelEndsTheReconnecting() {
        var fixture = MachineFixture.connected()
        _ = fixture.machine.handle(
            .disconnected(link: fixture.link, reason: .timeout, at: MachineFixture.date, isReconnecting: true))
        #expect(fixture.machine.cancel(handle).contains(.complete(.connectCancelled(handle))))
        #expect(fixture.state == .disconnected)
    }

    @Test func S50_theStartDelayPostponesTheAttempt() {
        var fixture = MachineFixture.poweredOn()
        let options = ConnectOptions()
        let effects = fixture.machine.connect(handle, options: options, startDelay: .seconds(2))
        let completion = CentralCompletion.startDelayOver(handle, fixture.operation, options)
        #expect(effects == [.schedule(completion, after: .seconds(2))])
        #expect(fixture.state == .connecting)
        #expect(
            fixture.machine.handle(completion).commands
                == [.connect(peer: peer, operation: fixture.operation, options: options)])
    }

    @Test func S50_aCancelDuringTheStartDelayKeepsTheBackendSilent() {
        var fixture = MachineFixture.poweredOn()
        _ = fixture.machine.connect(handle, options: ConnectOptions(), startDelay: .seconds(2))
        let completion = CentralCompletion.startDelayOver(handle, fixture.operation, ConnectOptions())
        _ = fixture.machine.cancel(handle)
        #expect(fixture.machine.handle(completion).isEmpty)
    }

    // MARK: Names

    @Test func S100_onlyAChangeOfNameIsReported() {
        var fixture = MachineFixture.poweredOn()
        #expect(fixture.machine.handle(.nameChanged(peer: peer, name: "peer", source: .gap)).isEmpty)
        #expect(
            fixture.machine.handle(.nameChanged(peer: peer, name: "other", source: .gap)).callbacks
                == [.nameUpdated(peer, "other")])
    }
}
