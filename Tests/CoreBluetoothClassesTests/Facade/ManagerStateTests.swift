import BluetoothBackend
import Dispatch
import Foundation
import Testing

@testable import CoreBluetoothClasses

@Suite struct ManagerStateTests {
    @Test func S1_theFirstStateComesAsynchronouslyOnTheQueue() async {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "S1")
        queue.setSpecific(key: key, value: true)
        let fixture = FacadeFixture(queue: queue)
        fixture.recorder.onEach { _ in #expect(DispatchQueue.getSpecific(key: key) == true) }
        #expect(fixture.manager?.state == .unknown)
        #expect(fixture.recorder.lines.isEmpty)
        await fixture.central.play(.stateChanged(.poweredOn))
        #expect(fixture.recorder.lines == ["state poweredOn"])
    }

    @Test func S2_theStateIsTheFirstCallback() async {
        let fixture = FacadeFixture()
        fixture.central.send(.stateChanged(.poweredOff))
        await fixture.central.play(.stateChanged(.poweredOn))
        #expect(fixture.recorder.lines.first == "state poweredOff")
    }

    @Test func S3_withoutAQueueCallbacksComeOnTheMainQueue() async {
        let backend = ScriptedBackend()
        let recorder = CallbackRecorder()
        recorder.onEach { _ in dispatchPrecondition(condition: .onQueue(.main)) }
        let manager = CBCentralManager(backend: .custom(backend), delegate: recorder, queue: nil)
        await backend.centrals[0].play(.stateChanged(.poweredOff))
        #expect(recorder.lines == ["state poweredOff"])
        #expect(manager.state == .poweredOff)
    }

    @Test func S4_aManagerWithoutArgumentsTakesADelegateLater() async {
        let backend = ScriptedBackend()
        let recorder = CallbackRecorder()
        let manager = CBManager.withBackend(.custom(backend)) { CBCentralManager() }
        manager.delegate = recorder
        await backend.centrals[0].play(.stateChanged(.poweredOn))
        #expect(recorder.lines == ["state poweredOn"])
    }

    @Test func S5_theStateIsNewInsideTheCallback() async {
        let fixture = FacadeFixture()
        await fixture.central.play(
            .stateChanged(.poweredOff), .stateChanged(.poweredOff), .stateChanged(.poweredOn))
        #expect(fixture.recorder.lines == ["state poweredOff", "state poweredOn"])
    }

    @Test func S10_retrievingBelowPoweredOnIsEmpty() async {
        let backend = ScriptedBackend()
        let peer = PeerSummary(id: PeerID(UUID()), name: "known")
        backend.know([peer])
        let manager = CBCentralManager(backend: .custom(backend), delegate: nil, queue: DispatchQueue(label: "S10"))
        #expect(manager.retrievePeripherals(withIdentifiers: [peer.id.uuid]).isEmpty)
        #expect(manager.retrieveConnectedPeripherals(withServices: ["180F"].map(CBUUID.init(string:))).isEmpty)
        await backend.centrals[0].play(.stateChanged(.poweredOn))
        #expect(manager.retrievePeripherals(withIdentifiers: [peer.id.uuid]).map(\.name) == ["known"])
    }

    @Test func S16_releasingAManagerEndsItsRoleWithoutCallbacks() async {
        let fixture = FacadeFixture()
        let central = fixture.central
        await central.play(.stateChanged(.poweredOn))
        fixture.manager = nil
        #expect(central.isInvalidated)
        central.send(.stateChanged(.poweredOff))
        #expect(fixture.recorder.lines == ["state poweredOn"])
    }

    @Test func S53_retrievedPeripheralsComeInTheOrderAskedAndDisconnected() async {
        let backend = ScriptedBackend()
        let peers = (0..<3).map { PeerSummary(id: PeerID(UUID()), name: "\($0)") }
        backend.know(peers)
        let manager = CBCentralManager(backend: .custom(backend), delegate: nil, queue: DispatchQueue(label: "S53"))
        await backend.centrals[0].play(.stateChanged(.poweredOn))
        let found = manager.retrievePeripherals(
            withIdentifiers: [peers[2].id.uuid, UUID(), peers[0].id.uuid])
        #expect(found.map(\.name) == ["2", "0"])
        #expect(found.allSatisfy { $0.state == .disconnected })
    }

    @Test func aPeripheralThatWasNeverDiscoveredHasTheAddressThatTheBackendReports() async {
        let backend = ScriptedBackend()
        let peers = (1...2).map { PeerSummary(id: PeerID(UUID()), address: "C0:98:E5:49:00:0\($0)") }
        backend.know(peers)
        let manager = CBCentralManager(backend: .custom(backend), delegate: nil, queue: DispatchQueue(label: "address"))
        await backend.centrals[0].play(.stateChanged(.poweredOn))
        let known = manager.retrievePeripherals(withIdentifiers: [peers[0].id.uuid])
        #expect(known.map(\.address) == ["C0:98:E5:49:00:01"])
        let connected = manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180F")])
        #expect(connected.map(\.address) == ["C0:98:E5:49:00:01", "C0:98:E5:49:00:02"])
    }

    @Test func S157_supportsIsTheBackendsWord() {
        CBManager.withBackend(.custom(ScriptedBackend())) {
            #expect(CBCentralManager.supports(.extendedScanAndConnect))
            #expect(!CBCentralManager.supports(CBCentralManager.Feature(rawValue: 1 << 5)))
        }
    }
}
