import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import Foundation
import Testing

/// The same seed and the same inputs give the same trace, byte for byte, in each process.
@Suite struct DeterminismTests {
    private func trace(seed: UInt64) async throws -> String { try await run(seed: seed).trace }

    /// Returns the trace and the events of a manager that runs ``react(_:_:)``, with or without a tap.
    private func run(
        seed: UInt64, tap: ((Emulator) -> EmulatorTap)? = nil
    ) async throws -> (trace: String, events: [CentralEvent]) {
        var configuration = EmulatorConfiguration.unreliable
        configuration.traceLimit = 100_000
        let emulator = try Emulator(world: .builtIn, configuration: configuration, time: .virtual, seed: seed)
        let tap = tap?(emulator)
        defer { tap?.cancel() }
        try emulator.add(ContractPeer.description)
        let central = emulator.makeCentral(RoleOptions())
        let sink = RecordingSink { event in Self.react(event, central) }
        central.activate(sink)
        try await emulator.advance(by: .seconds(3))
        emulator.devices.first?.setProximity(.outOfRange)
        try await emulator.advance(by: .seconds(6))
        emulator.host.setPower(false)
        try await emulator.advance(by: .seconds(1))
        return (emulator.trace.map(\.description).joined(separator: "\n") + "\n", sink.events)
    }

    /// Connects to each device that is found, discovers and subscribes.
    private static func react(_ event: CentralEvent, _ central: any CentralBackend) {
        switch event {
        case .stateChanged(.poweredOn): central.submit(.startScan(ScanParameters(allowDuplicates: false)))
        case .discovered(let discovery):
            central.submit(
                .connect(peer: discovery.peer, operation: op(1), options: ConnectOptions(autoReconnect: true)))
        case .connected(_, let link, _, _):
            central.submit(.request(link: link, operation: op(2), .discoverServices(nil)))
        case .response(let link, _, .services(let services)):
            for service in services {
                let operation = op(1000 + UInt64(service.id.rawValue))
                central.submit(
                    .request(link: link, operation: operation, .discoverCharacteristics(of: service.id, nil)))
            }
        case .response(let link, _, .characteristics(let characteristics)):
            for characteristic in characteristics {
                let number = UInt64(characteristic.id.rawValue)
                if characteristic.properties.contains(.read) {
                    central.submit(.request(link: link, operation: op(2000 + number), .read(characteristic.id)))
                }
                if characteristic.properties.contains(.notify) {
                    central.submit(
                        .request(link: link, operation: op(3000 + number), .setNotifying(characteristic.id, true)))
                }
            }
            let number = UInt64(characteristics.first?.id.rawValue ?? 0)
            central.submit(.request(link: link, operation: op(4000 + number), .readRSSI))
        default: break
        }
    }

    @Test func theSameSeedGivesTheSameTraceAndAnotherSeedAnother() async throws {
        let first = try await trace(seed: 7)
        #expect(try await trace(seed: 7) == first)
        #expect(try await trace(seed: 8) != first)
        #expect(first.split(separator: "\n").count > 100)
    }

    @Test(arguments: [TapKinds.all, .advertising, .att])
    func aTapChangesNeitherTheTraceNorTheCallbacks(kinds: TapKinds) async throws {
        let expected = try await run(seed: 7)
        let count = Lock(0)
        let tapped = try await run(seed: 7) { emulator in
            emulator.tap(kinds) { _ in count.withLock { $0 += 1 } }
        }
        #expect(tapped.trace == expected.trace)
        #expect(tapped.events == expected.events)
        #expect(count.withLock { $0 } > 15)
    }

    /// Compares the trace with one from another process.
    ///
    /// After an intended change of the emulator, take the new trace: the failing test writes it next to the old one as
    /// `emulator.actual.txt`.
    @Test func theTraceIsThatOfAnotherProcess() async throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let folder = tests.appendingPathComponent("GoldenTraces")
        let expected = try String(contentsOf: folder.appendingPathComponent("emulator.txt"), encoding: .utf8)
        let actual = try await trace(seed: 42)
        if actual != expected {
            try actual.write(
                to: folder.appendingPathComponent("emulator.actual.txt"), atomically: true, encoding: .utf8)
        }
        #expect(actual == expected)
    }
}
