#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import FoundationEssentials
import ScriptedBlueZ
import Testing

@testable import BlueZ

/// Stores the events of a pairing agent.
private final class PairingRecorder: EventSink {
    let label = "pairing recorder"
    let events = Recorder<PairingEvent>()

    func deliver(_ event: PairingEvent) { events.append(event) }
    func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
}

/// Stores the events of a peripheral manager.
private final class PeripheralEvents: EventSink {
    let label = "peripheral recorder"
    let events = Recorder<PeripheralEvent>()

    func deliver(_ event: PeripheralEvent) { events.append(event) }
    func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
}

/// Pairing as a whole, on a private bus, against a scripted `org.bluez`.
@Suite struct PairingBackendTests {
    private let fixture: BackendFixture
    private let device: DBusValue
    private let recorder = PairingRecorder()

    init() throws {
        fixture = try BackendFixture()
        device = .objectPath(CentralRoleFixture.path(fixture.device))
    }

    private func connect(_ central: any CentralBackend, to peer: PeerID) async throws {
        central.submit(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        try await fixture.recorder.events.first { if case .connected = $0 { true } else { false } }
    }

    private func waitForCall(_ member: String, of daemon: ScriptedBlueZ) async throws {
        try await daemon.service.handledCalls.first { $0.member == member }
    }

    /// The properties that were set with `Properties.Set`.
    private func sets(of daemon: ScriptedBlueZ) -> [DBusValue] {
        daemon.service.calls.elements.filter { $0.member == "Set" }.map { $0.body[1] }
    }

    // MARK: Connections

    @Test func withoutConsentNothingIsAgreedTo() async throws {
        let (daemon, central, peer) = try await fixture.discovered()
        #expect(daemon.asksNoAgent)
        try await connect(central, to: peer)
        try await waitForCall("RegisterAgent", of: daemon)
        for member in ["RequestAuthorization", "RequestPinCode", "RequestPasskey"] {
            await #expect(throws: DBusError.self) { try await daemon.askAgent(member, [device]) }
        }
        let headset = DBusValue.string("00001124-0000-1000-8000-00805f9b34fb")
        await #expect(throws: DBusError.self) { try await daemon.askAgent("AuthorizeService", [device, headset]) }
        central.submit(.disconnect(peer: peer))
        try await waitForCall("UnregisterAgent", of: daemon)
        #expect(daemon.asksNoAgent && !daemon.isPairable && sets(of: daemon).isEmpty)
    }

    @Test func theSettingAgreesToOurLinksAndToNothingElse() async throws {
        let backend = fixture.makeBackend(acceptsJustWorksPairing: true)
        let (daemon, central, peer) = try await fixture.discovered(of: backend)
        try await connect(central, to: peer)
        try await waitForCall("RegisterAgent", of: daemon)
        #expect(try await daemon.askAgent("RequestAuthorization", [device]) == [])
        let other = daemon.addDevice("F0:F1:F2:F3:F4:99", properties: ["Connected": .boolean(true)])
        let others = DBusValue.objectPath(CentralRoleFixture.path(other))
        await #expect(throws: DBusError.self) { try await daemon.askAgent("RequestAuthorization", [others]) }
        let headset = DBusValue.string("00001124-0000-1000-8000-00805f9b34fb")
        await #expect(throws: DBusError.self) { try await daemon.askAgent("AuthorizeService", [device, headset]) }
        daemon.service.set(fixture.device, "org.bluez.Device1", ["Paired": .boolean(true)])
        central.submit(.disconnect(peer: peer))
        try await waitForCall("UnregisterAgent", of: daemon)
        #expect(sets(of: daemon).isEmpty, "no device is marked as trusted")
    }

    @Test(arguments: [true, false]) func aDesktopsAgentStaysTheDefaultOne(isAccepting: Bool) async throws {
        let backend = fixture.makeBackend(acceptsJustWorksPairing: isAccepting)
        let (daemon, central, peer) = try await fixture.discovered(of: backend)
        daemon.addDesktopAgent()
        try await connect(central, to: peer)
        try await waitForCall("RegisterAgent", of: daemon)
        #expect(daemon.asksDesktop)
        central.submit(.disconnect(peer: peer))
        try await waitForCall("UnregisterAgent", of: daemon)
        #expect(daemon.asksDesktop && daemon.isPairable)
        #expect(!daemon.service.calls.elements.contains { $0.member == "RequestDefaultAgent" })
    }

    @Test func anAppsAgentIsTheDefaultOneForItsConnections() async throws {
        let backend = fixture.makeBackend()
        let (daemon, central, peer) = try await fixture.discovered(of: backend)
        let agent = backend.makePairing()
        agent.activate(recorder)
        agent.submit(.setCapability(.displayYesNo))
        try await waitForCall("RegisterAgent", of: daemon)
        // Its answer arrives after the reply to the registration.
        _ = try await daemon.askAgent("Cancel")
        daemon.addDesktopAgent()
        #expect(daemon.asksDesktop)
        try await connect(central, to: peer)
        try await waitForCall("RequestDefaultAgent", of: daemon)
        #expect(!daemon.asksDesktop)
        // The link takes the capability of the agent that is the default one when it begins.
        let members = daemon.service.calls.elements.map(\.member)
        #expect(
            try #require(members.firstIndex(of: "RequestDefaultAgent")) < #require(members.firstIndex(of: "Connect")))
        central.submit(.disconnect(peer: peer))
        try await waitForCall("UnregisterAgent", of: daemon)
        #expect(daemon.asksDesktop)
        agent.invalidate()
    }

    @Test func whatTheAdministratorSwitchesOffStaysOff() async throws {
        let backend = fixture.makeBackend()
        let (daemon, central, peer) = try await fixture.discovered(of: backend)
        daemon.addDesktopAgent()
        let agent = backend.makePairing()
        agent.activate(recorder)
        agent.submit(.setCapability(.displayYesNo))
        try await connect(central, to: peer)
        try await waitForCall("RequestDefaultAgent", of: daemon)
        daemon.setPairable(false)
        central.submit(.disconnect(peer: peer))
        // The desktop's agent is the default one again, and BlueZ switches pairing on for it.
        try await daemon.service.handledCalls.first { $0.member == "Set" && $0.body[2] == .variant(.boolean(false)) }
        #expect(daemon.asksDesktop && sets(of: daemon) == [.string("Pairable")])
        agent.invalidate()
    }

    // MARK: Publications

    @Test func onlyCentralsOfSomethingEncryptedMayPair() async throws {
        let backend = fixture.makeBackend(acceptsJustWorksPairing: true)
        let daemon = try ScriptedBlueZ(on: fixture.bus)
        let scripted = ScriptedPeripherals(of: daemon)
        let peripheral = backend.makePeripheral(RoleOptions())
        let served = PeripheralEvents()
        peripheral.activate(served)
        try await served.events.first { $0 == .stateChanged(.poweredOn) }
        peripheral.submit(.addService(operation: OperationID(rawValue: 1), service: PeripheralRoleFixture.service()))
        try await served.events.first { $0 == .serviceAdded(operation: OperationID(rawValue: 1)) }
        #expect(daemon.asksNoAgent)

        peripheral.submit(.addService(operation: OperationID(rawValue: 2), service: Self.safe))
        try await served.events.first { $0 == .serviceAdded(operation: OperationID(rawValue: 2)) }
        try await waitForCall("RegisterAgent", of: daemon)
        daemon.addDevice(BackendFixture.address)
        await #expect(throws: DBusError.self, "it is not connected") {
            try await daemon.askAgent("RequestAuthorization", [device])
        }
        daemon.service.set(fixture.device, "org.bluez.Device1", ["Connected": .boolean(true)])
        #expect(try await daemon.askAgent("RequestAuthorization", [device]) == [])
        let headset = DBusValue.string("00001124-0000-1000-8000-00805f9b34fb")
        await #expect(throws: DBusError.self) { try await daemon.askAgent("AuthorizeService", [device, headset]) }

        peripheral.submit(.removeService(Self.safe.id))
        try await waitForCall("UnregisterAgent", of: daemon)
        #expect(daemon.asksNoAgent && sets(of: daemon).isEmpty)
        withExtendedLifetime(scripted) {}
    }

    private static let safe = ServiceDefinition(
        id: AttributeID(rawValue: 50), uuid: "C0DE5000-0000-0000-0000-000000000000",
        characteristics: [
            ServiceDefinition.Characteristic(
                id: AttributeID(rawValue: 51), uuid: "C0DE5001-0000-0000-0000-000000000000", properties: .read,
                permissions: .readEncryptionRequired)
        ])

    // MARK: An app's agent

    @Test func theAppAnswersPairsAndUnpairs() async throws {
        let backend = fixture.makeBackend()
        let (daemon, central, peer, _) = try await fixture.connected(of: backend)
        let agent = backend.makePairing()
        agent.activate(recorder)
        agent.submit(.setCapability(.keyboardDisplay))
        try await waitForCall("RequestDefaultAgent", of: daemon)
        let (recorder, device) = (recorder, device)
        async let answer = daemon.askAgent("RequestPasskey", [device])
        let event = try await recorder.events.first { if case .requested = $0 { true } else { false } }
        guard case .requested(let request, peer, .enterPasskey) = event else {
            Issue.record("\(event)")
            return
        }
        agent.submit(.answer(request: request, answer: .passkey(123_456)))
        #expect(try await answer == [.uint32(123_456)])

        agent.submit(.pair(peer: peer, operation: OperationID(rawValue: 1)))
        try await recorder.events.first {
            $0 == .paired(peer: peer, operation: OperationID(rawValue: 1), isBonded: true)
        }
        agent.submit(.unpair(peer: peer, operation: OperationID(rawValue: 2)))
        try await recorder.events.first { $0 == .unpaired(peer: peer, operation: OperationID(rawValue: 2)) }
        #expect(!daemon.service.paths.contains(fixture.device) && sets(of: daemon).isEmpty)
        agent.invalidate()
        withExtendedLifetime(central) {}
    }

    @Test(arguments: [true, false]) func anAgentThatUnpairsIsAskedAboutANewPairing(isAccepted: Bool) async throws {
        let backend = fixture.makeBackend()
        let (daemon, central, peer, _) = try await fixture.connected(of: backend)
        let agent = backend.makePairing()
        agent.activate(recorder)
        agent.submit(.setCapability(.keyboardDisplay))
        try await waitForCall("RequestDefaultAgent", of: daemon)
        agent.submit(.pair(peer: peer, operation: OperationID(rawValue: 1)))
        try await recorder.events.first {
            $0 == .paired(peer: peer, operation: OperationID(rawValue: 1), isBonded: true)
        }
        daemon.service.on(ScriptedBlueZ.Interface.adapter, "RemoveDevice") { _ in .none }
        agent.submit(.unpair(peer: peer, operation: OperationID(rawValue: 2)))
        try await waitForCall("RemoveDevice", of: daemon)
        let (recorder, device) = (recorder, device)
        let answer = Task { try await daemon.askAgent("RequestAuthorization", [device]) }
        let event = try await recorder.events.first { if case .requested = $0 { true } else { false } }
        guard case .requested(let request, peer, .consent) = event else {
            Issue.record("\(event)")
            return
        }
        agent.submit(.answer(request: request, answer: isAccepted ? .accept : .reject))
        if isAccepted {
            #expect(try await answer.value == [])
        } else {
            await #expect(throws: DBusError.self) { try await answer.value }
        }
        agent.invalidate()
        withExtendedLifetime(central) {}
    }

    @Test func aRestartedDaemonGetsTheAgentAgain() async throws {
        let backend = fixture.makeBackend()
        let (daemon, central, peer) = try await fixture.discovered(of: backend)
        let agent = backend.makePairing()
        agent.activate(recorder)
        agent.submit(.setCapability(.displayYesNo))
        try await connect(central, to: peer)
        try await waitForCall("RequestDefaultAgent", of: daemon)
        daemon.service.handledCalls.removeAll()
        daemon.kill()
        try daemon.start()
        try await fixture.recorder.events.wait { $0.count { $0 == .stateChanged(.poweredOn) } == 2 }
        daemon.addDevice(BackendFixture.address)
        central.submit(.connect(peer: peer, operation: OperationID(rawValue: 2), options: ConnectOptions()))
        try await waitForCall("RequestDefaultAgent", of: daemon)
        agent.invalidate()
    }
}
#endif
