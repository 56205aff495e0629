#if os(Linux)
import BluetoothBackend
import Foundation
import ScriptedBlueZ
import Testing

@testable import BlueZ

/// Many connections in sequence, over a real bus: a leak of one connection shows after many.
///
/// It needs a separate process: `make soak`.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["SOAK"] == "1", "make soak"))
struct SoakTests {
    private static let cycles = 2000
    /// The number of first cycles, which fill pools and caches.
    private static let warmUp = 100

    private let fixture: BackendFixture
    private let recorder: EventRecorder

    init() throws {
        fixture = try BackendFixture()
        recorder = fixture.recorder
    }

    @Test func manyCyclesLeaveNothingBehind() async throws {
        let (daemon, central, peer) = try await fixture.discovered()
        central.submit(.stopScan)
        _ = try await daemon.service.calls.first { $0.member == "StopDiscovery" }
        let observer = try await BusObserver(fixture.bus)
        var before = try await observer.count()
        for cycle in 0..<Self.warmUp + Self.cycles {
            if cycle == Self.warmUp { before = try await observer.count() }
            try await talk(to: peer, by: central, over: daemon)
        }
        let after = try await observer.count()
        print("soak: \(Self.cycles) cycles, from \(before) to \(after)")
        #expect(after.process.descriptors <= before.process.descriptors)
        #expect(after.process.threads <= before.process.threads + 2, "Dispatch's pools breathe")
        #expect(after.process.memory - before.process.memory < 8192)
        #expect(after.matchRules == before.matchRules)
        #expect(before.matchRules > 0)
    }

    /// Connects, discovers, reads, subscribes, receives a value, and disconnects.
    private func talk(to peer: PeerID, by central: any CentralBackend, over daemon: ScriptedBlueZ) async throws {
        recorder.events.removeAll()
        daemon.service.calls.removeAll()
        daemon.service.handledCalls.removeAll()
        central.submit(.connect(peer: peer, operation: OperationID(rawValue: 1), options: ConnectOptions()))
        let event = try await recorder.events.first { if case .connected = $0 { true } else { false } }
        guard case .connected(_, let link, _, _) = event else { throw CancellationError() }
        let attribute = try await fixture.attribute(central, link)
        central.submit(.request(link: link, operation: OperationID(rawValue: 10), .read(attribute)))
        let value = CentralEvent.response(link: link, operation: OperationID(rawValue: 10), .value(Data([1, 2, 3])))
        try await recorder.events.first { $0 == value }
        let operation = OperationID(rawValue: 11)
        central.submit(.request(link: link, operation: operation, .setNotifying(attribute, true)))
        try await recorder.events.first {
            $0 == .response(link: link, operation: operation, .notifying(true))
        }
        daemon.notify(fixture.characteristic, [7])
        try await recorder.events.first {
            $0 == .valueNotified(link: link, attribute: attribute, value: Data([7]))
        }
        central.submit(.disconnect(peer: peer))
        try await recorder.events.first { if case .disconnected = $0 { true } else { false } }
    }
}
#endif
