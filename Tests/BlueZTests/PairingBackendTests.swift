#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothLocking
import FoundationEssentials
import ScriptedBlueZ
import Testing

@testable import BlueZ

/// Keeps what a pairing agent is told.
private final class PairingRecorder: EventSink {
    let label = "pairing recorder"
    let events = Recorder<PairingEvent>()

    func deliver(_ event: PairingEvent) { events.append(event) }
    func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
}

/// Pairing as a whole, on a private bus, against a scripted `org.bluez`.
@Suite struct PairingBackendTests {
    private let stage: RadioStage
    private let device: DBusValue
    private let recorder = PairingRecorder()

    init() throws {
        stage = try RadioStage()
        device = .objectPath(HostFixture.path(stage.device))
    }

    @Test func aLinkOfOursMayPairWithoutAnAgentAndAnotherMayNot() async throws {
        let (daemon, central, peer) = try await stage.discovered()
        try await daemon.service.calls.first { $0.member == "RequestDefaultAgent" }
        await #expect(throws: DBusError.self) { try await daemon.askAgent("RequestAuthorization", [device]) }
        central.submit(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        try await stage.recorder.events.first { if case .connected = $0 { true } else { false } }
        #expect(try await daemon.askAgent("RequestAuthorization", [device]) == [])
        await #expect(throws: DBusError.self) { try await daemon.askAgent("RequestPinCode", [device]) }
    }

    @Test func theAppAnswersPairsAndUnpairs() async throws {
        let backend = stage.makeBackend()
        let (daemon, central, peer, _) = try await stage.connected(of: backend)
        let agent = backend.makePairing()
        agent.activate(recorder)
        agent.submit(.setCapability(.keyboardDisplay))
        try await daemon.service.calls.first {
            $0.member == "RegisterAgent" && $0.body.last == .string("KeyboardDisplay")
        }
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
        try await daemon.service.calls.first {
            $0.member == "Set" && $0.body[1] == .string("Trusted")
        }
        agent.submit(.unpair(peer: peer, operation: OperationID(rawValue: 2)))
        try await recorder.events.first { $0 == .unpaired(peer: peer, operation: OperationID(rawValue: 2)) }
        #expect(!daemon.service.paths.contains(stage.device))
        agent.invalidate()
        withExtendedLifetime(central) {}
    }

    @Test func aRestartedDaemonGetsTheAgentAgain() async throws {
        let (daemon, central, _) = try await stage.discovered()
        try await daemon.service.calls.first { $0.member == "RequestDefaultAgent" }
        daemon.service.calls.removeAll()
        daemon.kill()
        try daemon.start()
        try await daemon.service.calls.first { $0.member == "RequestDefaultAgent" }
        withExtendedLifetime(central) {}
    }
}
#endif
