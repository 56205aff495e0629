import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Synchronization
import Testing

/// Snapshots of worlds, and their restoration.
@Suite struct SnapshotTests {
    /// A handler that counts seconds by itself, and notifies its count.
    private struct Ticker: EmulatedPeripheralHandler {
        func makeState() -> UInt8 { 0 }

        func handle(_ event: DeviceEvent, state: inout UInt8, device: inout DeviceActions) {
            switch event {
            case .parameterChanged: device.startTimer(1, after: .seconds(1), every: .seconds(1))
            case .timer:
                state += 1
                device.notify("2A19", value: Data([state]))
            default: break
            }
        }
    }

    private static let ticking = PeripheralDescription(
        name: "Ticker", advertising: [AdvertisingDescription(AdvertisingData())],
        services: [.init("180F", characteristics: [.init("2A19", [.read, .notify], value: Data([0]))])])

    /// Creates a world with lost packets and varying signals, and a device that ticks.
    private func world() async throws -> Emulator {
        var configuration = EmulatorConfiguration.default
        configuration.traceLimit = 100_000
        configuration.packetLossRate = 0.2
        configuration.advertisingLossRate = 0.2
        let emulator = Emulator(configuration: configuration, time: .virtual, seed: 5)
        try emulator.add(EmulatedPeripheral(Self.ticking, handler: Ticker())).set("start", to: 1)
        try await emulator.advance(by: .milliseconds(3_300))
        return emulator
    }

    /// Returns the events that a new app receives from the device in ten seconds.
    private func visit(_ emulator: Emulator) async throws -> [CentralEvent] {
        let central = emulator.makeCentral(RoleOptions())
        let sink = RecordingSink { event in
            switch event {
            case .stateChanged(.poweredOn): central.submit(.startScan(ScanParameters(allowDuplicates: true)))
            case .discovered(let discovery):
                central.submit(.connect(peer: discovery.peer, operation: op(1), options: ConnectOptions()))
            case .connected(_, let link, _, _):
                central.submit(.request(link: link, operation: op(2), .discoverServices(nil)))
            case .response(let link, _, .services(let services)):
                for service in services {
                    central.submit(
                        .request(link: link, operation: op(3), .discoverCharacteristics(of: service.id, nil)))
                }
            case .response(let link, _, .characteristics(let found)):
                for characteristic in found {
                    central.submit(
                        .request(link: link, operation: op(4), .setNotifying(characteristic.id, true)))
                }
            default: break
            }
        }
        central.activate(sink)
        try await emulator.advance(by: .seconds(10))
        return sink.events
    }

    @Test func aRestoredWorldGoesOnAsTheOriginalDoes() async throws {
        let original = try await world()
        let snapshot = try original.snapshot()
        let before = original.trace.count
        let seen = try await visit(original)
        let after = original.trace.dropFirst(before)
        #expect(seen.contains { $0.kind == .discovered })
        #expect(seen.contains { $0.kind == .valueNotified })

        let restored = Emulator(restoring: snapshot)
        #expect(restored.now == snapshot.now)
        #expect(restored.devices.first?.value(of: "2A19") == Data([3]))
        #expect(try await visit(restored) == seen)
        #expect(Array(restored.trace.dropFirst(before + 1)) == Array(after))
        #expect(restored.devices.first?.value(of: "2A19") == Data([13]))
    }

    @Test func twoRestorationsWithTheSameInputsHaveTheSameTrace() async throws {
        let original = try await world()
        _ = try await visit(original)
        let snapshot = try original.snapshot()
        let first = Emulator(restoring: snapshot)
        _ = try await visit(first)
        let second = Emulator(restoring: snapshot)
        _ = try await visit(second)
        #expect(first.trace == second.trace)
        #expect(first.trace.starts(with: original.trace))
        #expect(first.trace.count > original.trace.count + 10)
    }

    @Test func appsEndWithTheWorldThatTheyWereIn() async throws {
        let fixture = Fixture()
        let device = try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        _ = try await fixture.connect(device)
        fixture.submit(.startScan(ScanParameters()))
        device.rename("later")
        let snapshot = try fixture.emulator.snapshot()
        let count = fixture.events.count
        let restored = Emulator(restoring: snapshot)
        try await restored.advance(by: .seconds(1))
        let copy = try #require(restored.devices.first)
        #expect(copy.connectionCount == 0)
        #expect(restored.isIdle)
        #expect(fixture.events.count == count)
        #expect(device.connectionCount == 1)
        // A queued control takes effect in both worlds.
        #expect(copy.value(of: CharacteristicPath("2A00", service: "1800")) == Data("later".utf8))
    }

    @Test func linksAndSubscriptionsAreRestoredToTheManagerOfTheirIdentifier() async throws {
        let original = try await world()
        let device = try #require(original.devices.first)
        original.host.remember(device)
        let central = original.makeCentral(RoleOptions(restoreIdentifier: "app"))
        let fixture = RestoredApp(central)
        try await fixture.subscribe(to: device)
        let snapshot = try original.snapshot()
        let ticks = try #require(device.value(of: "2A19")?.first)

        let restored = Emulator(restoring: snapshot)
        let successor = restored.makeCentral(RoleOptions(restoreIdentifier: "app"))
        let sink = CollectingSink<CentralEvent>()
        successor.activate(sink)
        try await restored.advance(by: .seconds(3))
        guard case .restored(let state)? = sink.events.first else { throw Unexpected("\(sink.events)") }
        let peer = try #require(state.peers.first)
        let link = try #require(peer.link)
        #expect(peer.services.flatMap(\.notifying).count == 1)
        let values = sink.events.compactMap { event -> UInt8? in
            if case .valueNotified(link, _, let value) = event { value.first } else { nil }
        }
        #expect(values.count >= 2)
        #expect(values.first == ticks + 1)
    }

    @Test func aWorldThatIsDrivenGivesNoSnapshot() async throws {
        let fixture = Fixture()
        let errors = Lock<[EmulatorError?]>([])
        let central = fixture.emulator.makeCentral(RoleOptions())
        let sink = RecordingSink { [emulator = fixture.emulator] _ in
            let error: EmulatorError?
            do {
                _ = try emulator.snapshot()
                error = nil
            } catch let thrown as EmulatorError {
                error = thrown
            } catch {
                return
            }
            errors.withLock { $0.append(error) }
        }
        central.activate(sink)
        try await fixture.emulator.advance(by: .seconds(1))
        #expect(errors.withLock { $0 } == [.alreadyDriven])
        _ = try fixture.emulator.snapshot()
    }

    /// A handler that answers five seconds late, by a given clock.
    private final class Late: AsynchronousPeripheralHandler {
        let clock: Lock<EmulatorClock?>
        let asked = Lock(0)

        init(clock: EmulatorClock) { self.clock = Lock(clock) }

        func respond(to request: PeripheralRequest) async -> PeripheralResponse {
            asked.withLock { $0 += 1 }
            do {
                try await clock.withLock { $0 }?.sleep(for: .seconds(5))
                return .value(Data([42]))
            } catch {
                return .error(.unlikelyError)
            }
        }
    }

    @Test func anAsynchronousHandlerIsAskedAgainWhatItOwes() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let handler = Late(clock: emulator.swiftClock)
        let device = try emulator.add(EmulatedPeripheral(Self.ticking, handler: handler))
        let app = RestoredApp(emulator.makeCentral(RoleOptions(restoreIdentifier: "app")))
        let (link, attribute) = try await app.subscribe(to: device)
        app.central.submit(.request(link: link, operation: op(8), .read(attribute)))
        try await emulator.advance(by: .seconds(1))
        #expect(handler.asked.withLock { $0 } == 1)

        let restored = Emulator(restoring: try emulator.snapshot())
        handler.clock.withLock { $0 = restored.swiftClock }
        let successor = restored.makeCentral(RoleOptions(restoreIdentifier: "app"))
        let sink = CollectingSink<CentralEvent>()
        successor.activate(sink)
        try await restored.advance(by: .seconds(1))
        #expect(handler.asked.withLock { $0 } == 2)
        guard case .restored(let state)? = sink.events.first, let kept = state.peers.first?.link else {
            throw Unexpected("\(sink.events)")
        }
        // The link is free when the old question has been answered.
        successor.submit(.request(link: kept, operation: op(9), .read(attribute)))
        try await restored.advance(by: .seconds(10))
        #expect(handler.asked.withLock { $0 } == 3)
        #expect(sink.events.last == .response(link: kept, operation: op(9), .value(Data([42]))))
    }
}

/// An app that connects and subscribes, and can be terminated.
private struct RestoredApp {
    let central: any CentralBackend
    let sink = CollectingSink<CentralEvent>()

    init(_ central: any CentralBackend) { self.central = central }

    /// Connects and subscribes to the battery level.
    @discardableResult
    func subscribe(to device: EmulatedDevice) async throws -> (LinkID, AttributeID) {
        let emulator = device.emulator
        emulator.host.remember(device)
        let peer = try #require(device.identifier())
        central.activate(sink)
        try await emulator.advance(by: .seconds(1))
        central.submit(.connect(peer: peer, operation: op(1), options: ConnectOptions()))
        try await emulator.advance(by: .seconds(3))
        let opened = sink.events.first { $0.kind == .connected }
        guard case .connected(_, let link, _, _)? = opened else { throw Unexpected("\(sink.events)") }
        central.submit(.request(link: link, operation: op(2), .discoverServices(["180F"])))
        try await emulator.advance(by: .seconds(3))
        guard case .response(_, _, .services(let services))? = sink.events.last, let service = services.first else {
            throw Unexpected("\(sink.events)")
        }
        central.submit(.request(link: link, operation: op(3), .discoverCharacteristics(of: service.id, nil)))
        try await emulator.advance(by: .seconds(3))
        guard case .response(_, _, .characteristics(let found))? = sink.events.last, let level = found.first else {
            throw Unexpected("\(sink.events)")
        }
        central.submit(.request(link: link, operation: op(4), .setNotifying(level.id, true)))
        try await emulator.advance(by: .seconds(1))
        return (link, level.id)
    }
}
