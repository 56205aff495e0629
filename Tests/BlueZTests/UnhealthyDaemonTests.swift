#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import Foundation
import ScriptedBlueZ
import Testing

@testable import BlueZ

/// Behavior over a real bus that a healthy `bluetoothd` never shows: late, repeated or missing replies, vanishing
/// objects.
@Suite struct UnhealthyDaemonTests {
    private let fixture: BackendFixture
    private var recorder: EventRecorder { fixture.recorder }
    private var device: String { fixture.device }

    init() throws { fixture = try BackendFixture() }

    @Test func repliesInTheWrongOrderReachTheOperationsThatAskedForThem() async throws {
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        let asked = Recorder<ScriptedCall>()
        daemon.service.on(ScriptedBlueZ.Interface.characteristic, "WriteValue") { call in
            asked.append(call)
            return .none
        }
        for byte in UInt8(0)..<4 {
            central.submit(.writeCommand(link: link, attribute: attribute, value: Data([byte])))
        }
        try await asked.wait { $0.count == 4 }
        for call in asked.elements.reversed() { daemon.service.answer(call, with: .values([])) }
        try await recorder.events.wait { events in
            events.filter { $0 == .writeCredits(link: link, count: 1) }.count == 4
        }
    }

    @Test func aReplyThatComesTwiceCountsOnce() async throws {
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        daemon.service.on(ScriptedBlueZ.Interface.characteristic, "ReadValue") { [service = daemon.service] call in
            service.answer(call, with: .values([.bytes([1])]))
            return .values([.bytes([2])])
        }
        for number in [10, 11] as [UInt64] {
            central.submit(.request(link: link, operation: OperationID(rawValue: number), .read(attribute)))
        }
        let last = CentralEvent.response(link: link, operation: OperationID(rawValue: 11), .value(Data([1])))
        let events = try await recorder.events.wait { $0.contains(last) }
        #expect(events.filter { if case .response(_, _, .value) = $0 { true } else { false } }.count == 2)
    }

    @Test func aReplyOfTheWrongTypeIsAnErrorOfItsOperation() async throws {
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        daemon.service.on(ScriptedBlueZ.Interface.characteristic, "ReadValue") { _ in .values([.string("bytes")]) }
        central.submit(.request(link: link, operation: OperationID(rawValue: 10), .read(attribute)))
        let event = try await recorder.events.first { if case .response(_, _, .failure) = $0 { true } else { false } }
        guard case .response(link, OperationID(rawValue: 10), .failure) = event else {
            Issue.record("\(event)")
            return
        }
    }

    @Test func aDaemonThatNeverAnswersAReadIsClosedByTheLinksEnd() async throws {
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        daemon.service.on(ScriptedBlueZ.Interface.characteristic, "ReadValue") { _ in .none }
        central.submit(.request(link: link, operation: OperationID(rawValue: 10), .read(attribute)))
        _ = try await daemon.service.calls.first { $0.member == "ReadValue" }
        daemon.dropLink(device, reason: "Remote")
        let events = try await recorder.events.wait { events in
            events.contains { if case .disconnected(link, _, _, _, _) = $0 { true } else { false } }
        }
        #expect(!events.contains { if case .response(_, _, .failure) = $0 { true } else { false } })
        #expect(!events.contains { if case .response(_, _, .value) = $0 { true } else { false } })
    }

    @Test func aDeviceThatVanishesWithoutAWordBeforeEndsItsLinkOnce() async throws {
        let (daemon, central, _, link) = try await fixture.connected()
        _ = try await fixture.attribute(central, link)
        daemon.service.remove(device)
        daemon.addDevice(BackendFixture.address, name: "Heart")
        daemon.service.remove(device)
        let event = try await recorder.events.first { if case .disconnected = $0 { true } else { false } }
        guard case .disconnected(link, _, _, _, _) = event else {
            Issue.record("\(event)")
            return
        }
        withExtendedLifetime(central) {}
    }

    @Test func aRequestOnAServiceThatGoesFailsAtOnceAndTheNextOneIsMade() async throws {
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        daemon.service.on(ScriptedBlueZ.Interface.characteristic, "ReadValue") { _ in .none }
        central.submit(.request(link: link, operation: OperationID(rawValue: 10), .read(attribute)))
        _ = try await daemon.service.calls.first { $0.member == "ReadValue" }
        daemon.service.remove(device + "/service0010")
        let event = try await recorder.events.first { if case .response(_, _, .failure) = $0 { true } else { false } }
        guard case .response(link, OperationID(rawValue: 10), .failure(let error)) = event else {
            Issue.record("\(event)")
            return
        }
        #expect(error.code == .invalidHandle)
        daemon.addService(device, handle: "0020", uuid: "0000180f-0000-1000-8000-00805f9b34fb")
        _ = try await recorder.events.first {
            if case .servicesChanged(_, _, let added) = $0 { !added.isEmpty } else { false }
        }
        central.submit(.request(link: link, operation: OperationID(rawValue: 11), .discoverServices(nil)))
        let found = try await recorder.events.first {
            if case .response(_, OperationID(rawValue: 11), .services) = $0 { true } else { false }
        }
        guard case .response(_, _, .services(let services)) = found else { return }
        #expect(services.map(\.uuid) == [BluetoothUUID(0x180F)])
    }

    @Test func aDeviceThatVanishesWhileItIsConnectedToIsConnectedWhenItIsBack() async throws {
        let (daemon, central, peer) = try await fixture.discovered()
        let answered = Recorder<ScriptedCall>()
        daemon.service.on(ScriptedBlueZ.Interface.device, "Connect") { [service = daemon.service] call in
            answered.append(call)
            guard answered.elements.count > 1 else { return .none }
            service.set(call.path, ScriptedBlueZ.Interface.device, ["Connected": .boolean(true)])
            return .values([])
        }
        central.submit(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        try await answered.wait { $0.count == 1 }
        daemon.service.remove(device)
        daemon.addDevice(BackendFixture.address, name: "Heart")
        try await recorder.events.first { if case .connected(peer, _, _, _) = $0 { true } else { false } }
    }

    @Test func aSecondSnapshotRepeatsNothing() async throws {
        let backend = fixture.makeBackend()
        let (daemon, central, peer, link) = try await fixture.connected(of: backend)
        let attribute = try await fixture.attribute(central, link)
        let other = daemon.addDevice("F0:F1:F2:F3:F4:F6", services: ["0000180d-0000-1000-8000-00805f9b34fb"])
        central.submit(.setConnectionEventFilter(ConnectionEventFilter(services: [BluetoothUUID(0x180D)])))
        let operation = OperationID(rawValue: 10)
        central.submit(.request(link: link, operation: operation, .setNotifying(attribute, true)))
        try await recorder.events.first { $0 == .response(link: link, operation: operation, .notifying(true)) }
        daemon.notify(fixture.characteristic, [7])
        let value = CentralEvent.valueNotified(link: link, attribute: attribute, value: Data([7]))
        try await recorder.events.first { $0 == value }
        let peripheral = backend.makePeripheral(RoleOptions())
        let states = StateRecorder()
        peripheral.activate(states)
        try await states.states.first { $0 == .poweredOn }
        // The next events show that the earlier ones were handled.
        daemon.notify(fixture.characteristic, [8])
        daemon.service.set(other, ScriptedBlueZ.Interface.device, ["Connected": .boolean(true)])
        let last = try await recorder.events.first { if case .connectionEvent(_, true) = $0 { true } else { false } }
        #expect(last != .connectionEvent(peer: peer, isConnected: true))
        let events = recorder.events.elements
        #expect(events.filter { $0 == value }.count == 1)
        #expect(events.filter { if case .connectionEvent = $0 { true } else { false } } == [last])
        peripheral.invalidate()
    }

    @Test func aStrangersReplyIsNotTakenForTheDaemons() async throws {
        let (daemon, central, _, link) = try await fixture.connected()
        let attribute = try await fixture.attribute(central, link)
        let stranger = try ScriptedService(on: fixture.bus)
        daemon.service.on(ScriptedBlueZ.Interface.characteristic, "ReadValue") { [service = daemon.service] call in
            // The bus passes on an answer only from the client that was called.
            stranger.answer(call, with: .values([.bytes([66])]))
            service.answer(call, with: .values([.bytes([1])]))
            return .none
        }
        central.submit(.request(link: link, operation: OperationID(rawValue: 10), .read(attribute)))
        let event = try await recorder.events.first { if case .response(_, _, .value) = $0 { true } else { false } }
        #expect(event == .response(link: link, operation: OperationID(rawValue: 10), .value(Data([1]))))
    }
}
#endif
