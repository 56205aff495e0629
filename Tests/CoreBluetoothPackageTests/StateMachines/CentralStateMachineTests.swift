import BluetoothBackend
import Foundation
import Testing

@testable import CoreBluetoothPackage

@Suite struct CentralStateMachineTests {
    private let peer = MachineStage.peer
    private let handle = MachineStage.handle

    // MARK: State

    /// Proves S1.
    @Test func S1_stateIsUnknownAtFirst() {
        #expect(CentralStateMachine().state == .unknown)
    }

    /// Proves S5.
    @Test func S5_onlyAChangeOfStateIsTold() {
        var machine = CentralStateMachine()
        #expect(machine.handle(.stateChanged(.poweredOn)).callbacks == [.stateUpdated])
        #expect(machine.handle(.stateChanged(.poweredOn)).isEmpty)
        #expect(machine.state == .poweredOn)
    }

    /// Proves S9.
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

    /// Proves S11.
    @Test func S11_powerOffEndsScanAndConnections() {
        var stage = MachineStage.connected()
        _ = stage.machine.scan(ScanParameters())
        _ = stage.machine.handle(.stateChanged(.poweredOff))
        #expect(!stage.machine.isScanning)
        #expect(stage.state == .disconnected)
    }

    /// Proves S12.
    @Test func S12_powerOffCallsNoDidDisconnect() {
        var stage = MachineStage.connected()
        let effects = stage.machine.handle(.stateChanged(.poweredOff))
        #expect(effects.callbacks == [.stateUpdated])
        #expect(
            stage.machine.handle(
                .disconnected(link: stage.link, reason: .local, at: MachineStage.date, isReconnecting: false)
            ).isEmpty)
    }

    /// Proves S13.
    @Test func S13_aPendingConnectDoesNotSurvivePowerOff() {
        var stage = MachineStage.connecting()
        let late = stage.connectedEvent
        _ = stage.machine.handle(.stateChanged(.poweredOff))
        _ = stage.machine.handle(.stateChanged(.poweredOn))
        #expect(stage.machine.handle(late).isEmpty)
        #expect(stage.state == .disconnected)
    }

    /// Proves S14.
    @Test func S14_peripheralsSurvivePowerOffWithoutTheirServices() {
        var stage = MachineStage.connected()
        #expect(stage.machine.handle(.stateChanged(.poweredOff)).contains(.invalidateAttributes(peer)))
        _ = stage.machine.handle(.stateChanged(.poweredOn))
        #expect(
            stage.machine.connect(handle, options: ConnectOptions(), startDelay: .zero).commands.count == 1)
    }

    /// Proves S15.
    @Test(arguments: [AdapterState.unknown, .resetting, .unsupported, .unauthorized])
    func S15_aStateBelowPoweredOffInvalidatesPeripherals(state: AdapterState) {
        var stage = MachineStage.connected()
        #expect(stage.machine.handle(.stateChanged(state)).contains(.invalidatePeripherals))
        _ = stage.machine.handle(.stateChanged(.poweredOn))
        #expect(
            stage.machine.connect(handle, options: ConnectOptions(), startDelay: .zero)
                == [.misuse(.stalePeripheral(peer))])
    }

    // MARK: Scanning

    /// Proves S20.
    @Test func S20_scanningAgainReplacesTheScan() {
        var stage = MachineStage.poweredOn()
        let second = ScanParameters(services: ["180D"], allowDuplicates: true)
        #expect(stage.machine.scan(ScanParameters()).commands == [.startScan(ScanParameters())])
        #expect(stage.machine.scan(second).commands == [.startScan(second)])
    }

    /// Proves S23.
    @Test func S23_stopScanIsSilentAndWithoutEffectWhenIdle() {
        var stage = MachineStage.poweredOn()
        #expect(stage.machine.stopScan().isEmpty)
        _ = stage.machine.scan(ScanParameters())
        #expect(stage.machine.isScanning)
        #expect(stage.machine.stopScan() == [.submit(.stopScan)])
        #expect(!stage.machine.isScanning)
    }

    /// Proves S23.
    @Test func S23_nothingIsDiscoveredAfterStopScan() {
        var stage = MachineStage.poweredOn()
        let report = Discovery(peer: peer, name: "peer", advertisement: Advertisement(), rssi: -40)
        _ = stage.machine.scan(ScanParameters())
        #expect(stage.machine.handle(.discovered(report)).callbacks == [.discovered(report)])
        _ = stage.machine.stopScan()
        #expect(stage.machine.handle(.discovered(report)).isEmpty)
    }

    // MARK: Objects

    /// Proves S31.
    @Test func S31_releaseWhileConnectingCancelsWithALogLine() {
        var stage = MachineStage.connecting()
        #expect(
            stage.machine.released(handle)
                == [.misuse(.unusedWhileConnecting(peer)), .submit(.disconnect(peer: peer))])
    }

    /// Proves S31.
    @Test func S31_releaseWhileConnectedDisconnectsWithALogLineAndNoCallback() {
        var stage = MachineStage.connected()
        #expect(
            stage.machine.released(handle)
                == [.misuse(.unusedWhileConnected(peer)), .submit(.disconnect(peer: peer))])
        #expect(
            stage.machine.handle(
                .disconnected(link: stage.link, reason: .local, at: MachineStage.date, isReconnecting: false)
            ).isEmpty)
    }

    @Test func aLateReleaseBesideANewObjectOfTheSameIdentifierIsIgnored() {
        var stage = MachineStage.connected()
        stage.machine.adopt(PeerHandle(id: peer, generation: 2), name: "peer")
        #expect(stage.machine.released(handle).isEmpty)
        #expect(stage.machine.peer(PeerHandle(id: peer, generation: 2))?.state == .connected)
    }

    // MARK: Connecting

    /// Proves S34.
    @Test func S34_connectIsConnectingAtOnce() {
        #expect(MachineStage.connecting().state == .connecting)
    }

    /// Proves S36.
    @Test func S36_aLinkMakesConnectedThenTheCallback() {
        var stage = MachineStage.connecting()
        #expect(stage.machine.handle(stage.connectedEvent).callbacks == [.connected(peer)])
        #expect(stage.state == .connected)
    }

    /// Proves S37.
    @Test func S37_aFailureEndsTheRequest() {
        var stage = MachineStage.connecting()
        let error = BackendError(.connectionFailed, operation: "connect")
        let event = CentralEvent.connectFailed(peer: peer, operation: stage.operation, error: error)
        #expect(stage.machine.handle(event).callbacks == [.connectFailed(peer, error)])
        #expect(stage.state == .disconnected)
        #expect(stage.machine.handle(event).isEmpty)
    }

    /// Proves S39.
    @Test func S39_connectWhenConnectedIsToldAgain() {
        var stage = MachineStage.connected()
        let effects = stage.machine.connect(handle, options: ConnectOptions(), startDelay: .zero)
        #expect(effects == [.complete(.connectedAgain(handle))])
        #expect(stage.machine.handle(.connectedAgain(handle)).callbacks == [.connected(peer)])
    }

    /// Proves S39.
    @Test func S39_connectWhenConnectingKeepsOneRequest() {
        var stage = MachineStage.connecting()
        #expect(stage.machine.connect(handle, options: ConnectOptions(), startDelay: .zero).isEmpty)
    }

    /// Proves S40.
    @Test func S40_cancelWhenConnectedIsDisconnectingThenDisconnectedWithoutError() {
        var stage = MachineStage.connected()
        #expect(stage.machine.cancel(handle) == [.submit(.disconnect(peer: peer))])
        #expect(stage.state == .disconnecting)
        let effects = stage.machine.handle(
            .disconnected(link: stage.link, reason: .local, at: MachineStage.date, isReconnecting: false))
        #expect(
            effects.callbacks == [.disconnected(peer, at: MachineStage.date, isReconnecting: false, error: nil)])
        #expect(stage.state == .disconnected)
    }

    /// Proves S40.
    @Test func S40_aReasonThatComesDuringTheCancelIsNoError() {
        var stage = MachineStage.connected()
        _ = stage.machine.cancel(handle)
        let effects = stage.machine.handle(
            .disconnected(link: stage.link, reason: .timeout, at: MachineStage.date, isReconnecting: true))
        #expect(
            effects.callbacks == [.disconnected(peer, at: MachineStage.date, isReconnecting: false, error: nil)])
        #expect(stage.state == .disconnected)
    }

    /// Proves S42.
    @Test func S42_cancelWhileConnectingIsADisconnectionWithoutError() {
        var stage = MachineStage.connecting()
        let late = stage.connectedEvent
        #expect(
            stage.machine.cancel(handle)
                == [.submit(.disconnect(peer: peer)), .complete(.connectCancelled(handle))])
        #expect(stage.state == .disconnected)
        #expect(
            stage.machine.handle(.connectCancelled(handle)).callbacks
                == [.disconnected(peer, at: nil, isReconnecting: false, error: nil)])
        #expect(stage.machine.handle(late).isEmpty, "a link that came too late is no connection")
    }

    /// Proves S42.
    @Test func S42_cancelWhenDisconnectedDoesNothing() {
        var stage = MachineStage.poweredOn()
        #expect(stage.machine.cancel(handle).isEmpty)
    }

    @Test func aLinkOfACancelledAttemptIsNotTakenForTheNextOne() {
        var stage = MachineStage.connecting()
        let first = stage.connectedEvent
        _ = stage.machine.cancel(handle)
        _ = stage.machine.connect(handle, options: ConnectOptions(), startDelay: .zero)
        #expect(stage.machine.handle(first).isEmpty)
        #expect(stage.state == .connecting)
    }

    /// Proves S44.
    @Test(arguments: [
        (DisconnectReason.remote, BackendError.Code?.some(.peerDisconnected)), (.timeout, .connectionTimeout),
        (.authentication, .encryptionTimedOut), (.unknown, .peerDisconnected), (.local, nil),
    ])
    func S44_theReasonDecidesTheError(reason: DisconnectReason, code: BackendError.Code?) {
        var stage = MachineStage.connected()
        let effects = stage.machine.handle(
            .disconnected(link: stage.link, reason: reason, at: MachineStage.date, isReconnecting: false))
        guard case .disconnected(_, _, _, let error)? = effects.callbacks.first else {
            Issue.record("no disconnection in \(effects)")
            return
        }
        #expect(error?.code == code)
    }

    /// Proves S46.
    @Test func S46_pendingOperationsVanishWithTheLink() {
        var stage = MachineStage.connected()
        let operation = stage.read(1)
        _ = stage.machine.handle(
            .disconnected(link: stage.link, reason: .remote, at: MachineStage.date, isReconnecting: false))
        #expect(stage.machine.handle(.valueRead(link: stage.link, operation: operation, value: Data())).isEmpty)
    }

    /// Proves S48.
    @Test func S48_autoReconnectKeepsConnectingAndToldSo() {
        var stage = MachineStage.connected()
        let again = CentralEvent.connected(
            peer: peer, link: LinkID(rawValue: 8), operation: stage.operation,
            parameters: LinkParameters(mtu: 23, writeCredits: 1))
        let effects = stage.machine.handle(
            .disconnected(link: stage.link, reason: .timeout, at: MachineStage.date, isReconnecting: true))
        guard case .disconnected(_, _, true, _)? = effects.callbacks.first else {
            Issue.record("not reconnecting in \(effects)")
            return
        }
        #expect(stage.state == .connecting)
        #expect(stage.machine.handle(again).callbacks == [.connected(peer)])
    }

    /// Proves S48.
    @Test func S48_cancelEndsTheReconnecting() {
        var stage = MachineStage.connected()
        _ = stage.machine.handle(
            .disconnected(link: stage.link, reason: .timeout, at: MachineStage.date, isReconnecting: true))
        #expect(stage.machine.cancel(handle).contains(.complete(.connectCancelled(handle))))
        #expect(stage.state == .disconnected)
    }

    /// Proves S50.
    @Test func S50_theStartDelayPostponesTheAttempt() {
        var stage = MachineStage.poweredOn()
        let options = ConnectOptions()
        let effects = stage.machine.connect(handle, options: options, startDelay: .seconds(2))
        let completion = CentralCompletion.startDelayOver(handle, stage.operation, options)
        #expect(effects == [.schedule(completion, after: .seconds(2))])
        #expect(stage.state == .connecting)
        #expect(
            stage.machine.handle(completion).commands
                == [.connect(peer: peer, operation: stage.operation, options: options)])
    }

    /// Proves S50.
    @Test func S50_aCancelDuringTheStartDelayKeepsTheRadioSilent() {
        var stage = MachineStage.poweredOn()
        _ = stage.machine.connect(handle, options: ConnectOptions(), startDelay: .seconds(2))
        let completion = CentralCompletion.startDelayOver(handle, stage.operation, ConnectOptions())
        _ = stage.machine.cancel(handle)
        #expect(stage.machine.handle(completion).isEmpty)
    }

    // MARK: Names

    /// Proves S100.
    @Test func S100_onlyAChangeOfNameIsTold() {
        var stage = MachineStage.poweredOn()
        #expect(stage.machine.handle(.nameChanged(peer: peer, name: "peer", source: .gap)).isEmpty)
        #expect(
            stage.machine.handle(.nameChanged(peer: peer, name: "other", source: .gap)).callbacks
                == [.nameUpdated(peer, "other")])
    }
}
