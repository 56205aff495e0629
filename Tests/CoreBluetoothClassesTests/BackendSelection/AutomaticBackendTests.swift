import BluetoothBackend
import BluetoothSupport
import Dispatch
import Foundation
import LogCapture
import Synchronization
import Testing

@testable import CoreBluetoothClasses

@Suite struct AutomaticBackendTests {
    private let real = ScriptedBackend()
    private let emulated = ScriptedBackend()
    private let clock = ManualClock()

    private func automatic(allowsFallback: Bool) -> AutomaticBackend {
        let fallback = AutomaticBackend.Fallback(reason: "the test allows it") { [emulated] in emulated }
        return AutomaticBackend(primary: real, fallback: allowsFallback ? fallback : nil, clock: clock)
    }

    private func manager(_ backend: AutomaticBackend, _ recorder: CallbackRecorder) -> CBCentralManager {
        CBCentralManager(backend: .custom(backend), delegate: recorder, queue: DispatchQueue(label: "automatic"))
    }

    /// The decision is taken on another thread; this returns when the backend has created a role.
    private func central(_ index: Int, of scripted: ScriptedBackend) async -> ScriptedCentral {
        await scripted.central(index)
    }

    private func decision(of backend: AutomaticBackend) async {
        await withCheckedContinuation { continuation in
            backend.whenDecided { _ in continuation.resume() }
        }
    }

    @Test(arguments: [AdapterState.poweredOn, .poweredOff, .unauthorized])
    func aBackendWithAnAdapterIsTaken(state: AdapterState) async {
        let backend = automatic(allowsFallback: true)
        let recorder = CallbackRecorder()
        let manager = manager(backend, recorder)
        #expect(manager.backendName == "automatic")
        #expect(manager.state == .unknown)
        await central(0, of: real).send(.stateChanged(state))
        let chosen = await central(1, of: real)
        await chosen.play(.stateChanged(state))
        #expect(manager.backendName == "scripted")
        #expect(recorder.lines == ["state \(CBManagerState(state))"])
        #expect(emulated.centrals.isEmpty)
        #expect(real.centrals[0].isInvalidated, "the probe leaves nothing behind")
    }

    @Test func withoutAnAdapterTheFallbackIsTakenWhereItIsAllowed() async {
        let backend = automatic(allowsFallback: true)
        let recorder = CallbackRecorder()
        let manager = manager(backend, recorder)
        await central(0, of: real).send(.stateChanged(.unsupported))
        await central(0, of: emulated).play(.stateChanged(.poweredOn))
        #expect(recorder.lines == ["state poweredOn"])
        #expect(real.centrals.count == 1, "nothing but the probe")
        #expect(backend.decided as? ScriptedBackend === emulated)
        withExtendedLifetime(manager) {}
    }

    @Test func withoutPermissionTheEmulatorNeverAppearsAndALateAdapterIsUsed() async {
        let backend = automatic(allowsFallback: false)
        let recorder = CallbackRecorder()
        let manager = manager(backend, recorder)
        await central(0, of: real).send(.stateChanged(.unsupported))
        let chosen = await central(1, of: real)
        await chosen.play(.stateChanged(.unsupported))
        #expect(manager.state == .unsupported)
        await chosen.play(.stateChanged(.poweredOn))
        #expect(manager.state == .poweredOn)
        #expect(recorder.lines == ["state unsupported", "state poweredOn"])
        #expect(emulated.centrals.isEmpty)
    }

    /// The bus starts the daemon, which never connects.
    @Test func aBackendThatSaysNothingIsGivenUpAfterThreeSeconds() async {
        let backend = automatic(allowsFallback: true)
        let manager = manager(backend, CallbackRecorder())
        _ = await central(0, of: real)
        clock.advance(by: .milliseconds(2900))
        #expect(backend.decided == nil)
        clock.advance(by: .milliseconds(100))
        _ = await central(0, of: emulated)
        #expect(backend.decided as? ScriptedBackend === emulated)
        withExtendedLifetime(manager) {}
    }

    /// A daemon that restarts within the deadline reports `.resetting` or nothing at first.
    @Test func aLateDaemonIsWaitedFor() async {
        let backend = automatic(allowsFallback: true)
        let manager = manager(backend, CallbackRecorder())
        let probe = await central(0, of: real)
        probe.send(.stateChanged(.unknown), .stateChanged(.resetting))
        clock.advance(by: .seconds(2))
        probe.send(.stateChanged(.poweredOn))
        _ = await central(1, of: real)
        clock.advance(by: .seconds(2))
        #expect(backend.decided as? ScriptedBackend === real)
        withExtendedLifetime(manager) {}
    }

    @Test func allManagersShareOneDecision() async {
        let backend = automatic(allowsFallback: true)
        let managers = (0..<3).map { _ in manager(backend, CallbackRecorder()) }
        await central(0, of: real).send(.stateChanged(.unsupported))
        _ = await central(2, of: emulated)
        #expect(real.centrals.count == 1)
        #expect(managers.map(\.backendName) == ["scripted", "scripted", "scripted"])
    }

    /// The command arrives between the decision and the creation of the manager's role.
    @Test func aCommandThatComesWhileTheRoleIsMadeReachesItInOrder() async {
        let role = Lock<DeferredRole<CentralCommand, CentralEvent>?>(nil)
        let scripted = ScriptedBackend()
        let backend = AutomaticBackend(primary: scripted, fallback: nil, clock: clock)
        let deferred = DeferredRole<CentralCommand, CentralEvent>(backend) { scripted in
            // The decision is made, but this role does not exist yet.
            role.withLock { $0 }?.submit(.stopScan)
            return MadeRole(scripted.makeCentral(RoleOptions()))
        }
        role.withLock { $0 = deferred }
        let peers = (0..<2).map { _ in PeerID(UUID()) }
        deferred.submit(.disconnect(peer: peers[0]))
        deferred.activate(DeafSink())
        await central(0, of: scripted).send(.stateChanged(.poweredOn))
        let central = await central(1, of: scripted)
        await decision(of: backend)
        deferred.submit(.disconnect(peer: peers[1]))
        #expect(central.commands == [.disconnect(peer: peers[0]), .stopScan, .disconnect(peer: peers[1])])
        role.withLock { $0 = nil }
    }

    @Test func theLineOfAFallbackSaysWhatAllowedIt() async {
        LogCapture.start()
        let backend = automatic(allowsFallback: true)
        let manager = manager(backend, CallbackRecorder())
        await central(0, of: real).send(.stateChanged(.unsupported))
        _ = await central(0, of: emulated)
        #expect(!LogCapture.lines(containing: "instead, since the test allows it").isEmpty)
        withExtendedLifetime(manager) {}
    }

    @Test func aVariableCIThatAllowsNothingIsReportedWhereAnAdapterIsMissing() async {
        LogCapture.start()
        let backend = AutomaticBackend(primary: real, fallback: nil, isDoubtfulCI: true, clock: clock)
        let manager = manager(backend, CallbackRecorder())
        await central(0, of: real).send(.stateChanged(.unsupported))
        _ = await central(1, of: real)
        #expect(!LogCapture.lines(containing: "the variable CI alone does not allow one").isEmpty)
        withExtendedLifetime(manager) {}
    }

    @Test func aManagerThatGoesBeforeTheDecisionGetsNoBackend() async {
        let backend = automatic(allowsFallback: true)
        var manager: CBCentralManager? = manager(backend, CallbackRecorder())
        let other = self.manager(backend, CallbackRecorder())
        manager = nil
        await central(0, of: real).send(.stateChanged(.unsupported))
        await decision(of: backend)
        _ = await central(0, of: emulated)
        _ = await central(1, of: emulated)
        #expect(manager == nil)
        #expect(other.backendName == "scripted")
        #expect(emulated.centrals.filter { !$0.isInvalidated }.count == 1)
    }
}

/// The sink of events that no manager receives.
private final class DeafSink: EventSink {
    let label = "deaf"
    func deliver(_: CentralEvent) {}
    func afterDelivery(_ body: @escaping @Sendable () -> Void) { body() }
}
