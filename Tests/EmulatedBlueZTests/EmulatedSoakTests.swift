import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport
import Foundation
import ScriptedBlueZ
import Testing

@testable import EmulatedBlueZ

/// Many connections in succession, which make a leak of a single one visible.
///
/// Needs a separate process: `make soak`.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["SOAK"] == "1", "make soak"))
struct EmulatedSoakTests {
    private static let cycles = 10_000
    /// The first cycles, which fill pools and caches.
    private static let warmUp = 500

    @Test func tenThousandConnectsLeaveNothingBehind() async throws {
        // A device is connected when its next packet is heard, which would take up to a tenth of a second in real time.
        let fixture = try await ServedFixture(time: .scaled(by: 100))
        let client = try await fixture.client()
        try await client.call("StopDiscovery", on: .hci0, "Adapter1")
        var before = try ProcessResources()
        for cycle in 0..<Self.warmUp + Self.cycles {
            if cycle == Self.warmUp { before = try ProcessResources() }
            try await fixture.connect(client)
            try await client.call("Disconnect", on: .monitor, "Device1")
            try await client.wait { try await client.get("Connected", of: "Device1", at: .monitor) == .boolean(false) }
        }
        try compare(before, "\(Self.cycles) connects")
        fixture.service.stop()
    }

    /// The daemon's connection may have 64 match rules, of which each client needs two.
    @Test func aThousandClientsLeaveNothingBehind() async throws {
        let fixture = try await ServedFixture(limits: ["max_match_rules_per_connection": 64])
        var before = try ProcessResources()
        for cycle in 0..<1_100 {
            if cycle == 100 { before = try ProcessResources() }
            let client = try await BusClient(fixture.bus)
            // The path has no application; the client itself answers the call.
            await #expect(throws: DBusError.self) {
                try await client.call(
                    "RegisterApplication", .objectPath(.root), .properties([:]), on: .hci0, "GattManager1")
            }
            try await client.call("StartDiscovery", on: .hci0, "Adapter1")
            client.close()
        }
        try compare(before, "1,000 clients")
        let last = try await fixture.client()
        try await fixture.connect(last)
        fixture.service.stop()
    }

    private func compare(_ before: ProcessResources, _ what: String) throws {
        let after = try ProcessResources()
        print("soak: \(what), from \(before) to \(after)")
        #expect(after.descriptors <= before.descriptors + 2)
        #expect(after.threads <= before.threads + 4, "Dispatch's pools breathe")
        #expect(after.memory - before.memory < 16_384)
    }
}
