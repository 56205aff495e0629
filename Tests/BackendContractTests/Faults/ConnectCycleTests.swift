#if BlueZ
import BluetoothEmulator
import CoreBluetooth
import EmulatedBlueZ
import ScriptedBlueZ
import Testing

/// Cycles of an app that connects, discovers, subscribes, reads and disconnects, over the BlueZ backend and an emulated
/// `bluetoothd`: a leak of one cycle shows after many.
///
/// `make test` runs a hundred. `make cycles CYCLES=100000` has a separate process, and counts ten times what it and the
/// bus hold.
@Suite(.serialized, .enabled(if: !BlueZFixture.isChosen, "needs no adapter")) struct ConnectCycleTests {
    private static let wanted = ProcessInfo.processInfo.environment["COREBLUETOOTH_CYCLES"].flatMap { Int($0) }
    /// The number of first cycles, which fill pools and caches.
    private static let warmUp = 500
    /// The number of cycles that take far less time than the limit of a wait.
    private static let batch = 10

    @Test(.limitedPrivateBuses) func cyclesLeaveNothingBehind() async throws {
        // A device is connected when its next packet is heard, which must take less than a tenth of a second.
        let fixture = try await EmulatedBlueZFixture(.bluez5_66, worldTime: .scaled(by: 100))
        let app = CyclingApp(fixture.backend)
        defer { app.end() }
        guard let wanted = Self.wanted else { return try await Self.run(app, to: 100) }
        let observer = try await BusObserver(fixture.bus)
        try await Self.run(app, to: Self.warmUp)
        let before = try await observer.count()
        print("cycles: 0 of \(wanted), \(before)")
        for part in 1...10 {
            try await Self.run(app, to: Self.warmUp + wanted * part / 10)
            let now = try await observer.count()
            print("cycles: \(wanted * part / 10) of \(wanted), \(now)")
            #expect(now.process.descriptors <= before.process.descriptors + ProcessResources.descriptorTolerance)
            #expect(now.process.threads <= before.process.threads + 4, "Dispatch's pools breathe")
            #expect(now.process.memory - before.process.memory < 16_384)
            #expect(now.matchRules == before.matchRules)
        }
        #expect(before.matchRules > 0)
    }

    private static func run(_ app: CyclingApp, to goal: Int) async throws {
        for cycles in stride(from: app.cycles, to: goal, by: batch) {
            try await app.run(to: min(goal, cycles + batch))
            try #require(app.problem == nil)
        }
        #expect(app.cycles == goal)
    }
}
#endif
