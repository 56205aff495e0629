import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import Foundation
import ScriptedBlueZ
import Testing

/// Many managers at once: the threads of their queues end when the queues are idle.
///
/// Needs a separate process: `make soak`.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["SOAK"] == "1", "make soak"))
struct ManagerSoakTests {
    @Test(.timeLimit(.minutes(2))) func threeThousandManagersAndFourHundredCancelledTasksLeaveNoThreads() async throws {
        try await Self.useManagers(10)
        let before = try ProcessResources()
        try await Self.useManagers(3_000)
        let busy = try ProcessResources()
        #expect(busy.threads <= before.threads + Self.threadsOfDispatch)
        // Dispatch ends a thread that was idle for five seconds.
        while try ProcessResources().threads > before.threads + 4 { await Task.yield() }
        print("soak: 3,000 managers, from \(before) over \(busy) to \(try ProcessResources())")
    }

    /// The number of threads up to which serial queues that work at the same time have a thread each.
    private static let threadsOfDispatch = 256

    private static func useManagers(_ count: Int) async throws {
        let emulator = Emulator()
        try emulator.add(.heartRateMonitor)
        let centrals = (0..<count).map { _ in Central(backend: .emulator(emulator)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for central in centrals {
                group.addTask { try await central.waitUntilPoweredOn() }
            }
            try await group.waitForAll()
        }
        let scans = centrals.prefix(400).map { central in
            Task { for try await _ in central.scan() {} }
        }
        for scan in scans { scan.cancel() }
        for scan in scans { _ = await scan.result }
    }
}
