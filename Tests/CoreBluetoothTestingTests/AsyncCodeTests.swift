import AsyncBluetooth
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Synchronization
import Testing

/// The number of times that each program runs: `ASYNC_RUNS=1000` in the environment for a thousand.
private let runs = ProcessInfo.processInfo.environment["ASYNC_RUNS"].flatMap(Int.init) ?? 40

/// App code that awaits, in virtual time, and does not know the emulator.
enum AsyncApp {
    /// Returns the battery level of the first heart rate monitor that is heard.
    static func level(_ central: Central) async throws -> UInt8? {
        for try await found in central.scan(for: [CBUUID(string: "180D")]) {
            return try await found.peripheral.read("180F/2A19").first
        }
        return nil
    }

    /// Returns the first heart beats.
    static func beats(_ count: Int, _ central: Central) async throws -> [Data] {
        var beats: [Data] = []
        for try await found in central.scan(for: [CBUUID(string: "180D")]) {
            for try await beat in found.peripheral.notifications(of: "180D/2A37") {
                beats.append(beat)
                if beats.count == count { return beats }
            }
        }
        return beats
    }

    /// The results of several tasks of an app, in order.
    actor Diary {
        private(set) var lines: [String] = []
        func add(_ line: String) { lines.append(line) }
    }
}

@Suite(.emulator(.instant, world: .builtIn)) struct AsyncCodeTests {
    @Test(arguments: 0..<runs) func aChildTaskRunsBeforeTimeAdvances(_ run: Int) async throws {
        async let value = AsyncApp.level(Central())
        let update = await Emulator.current.expect(.didUpdateValue.of("2A19"), within: .seconds(30))
        let level = try await value
        #expect(level != nil)
        #expect(update?.value == level.map { Data([$0]) })
        #expect(Emulator.current.now < .seconds(5))
    }

    @Test(arguments: 0..<runs) func aLimitInTheEmulatorsTimeIsNotMetWhileATaskIsReady(_ run: Int) async throws {
        let emulator = Emulator.current
        let result = Lock<Result<UInt8?, any Error>?>(nil)
        let task = Task {
            do {
                let level = try await withTimeout(.seconds(10), clock: emulator.swiftClock) {
                    try await AsyncApp.level(Central())
                }
                result.withLock { $0 = .success(level) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
        }
        try await emulator.advance(until: { result.withLock { $0 } != nil })
        await task.value
        #expect(try result.withLock { $0 }?.get() != nil)
        #expect(emulator.now < .seconds(5))
    }

    @Test(arguments: 0..<runs) func aTaskOnTheQueueOfItsCentralIsWaitedFor(_ run: Int) async throws {
        let emulator = Emulator.current
        let central = Central()
        let result = Lock<UInt8?>(nil)
        let task = Task(executorPreference: central.executor) {
            let level = try await AsyncApp.level(central)
            result.withLock { $0 = level }
        }
        try await emulator.advance(until: { result.withLock { $0 } != nil })
        try await task.value
        #expect(emulator.now < .seconds(5))
    }

    @Test func runAdvancesTimeAsFarAsItsBodyNeeds() async throws {
        let emulator = Emulator.current
        let beats = try await emulator.run { try await AsyncApp.beats(60, Central()) }
        #expect(beats.count == 60)
        #expect(emulator.now > .seconds(59) && emulator.now < .seconds(70), "\(emulator.now)")
    }

    @Test func tasksThatNobodyAwaitsAreWaitedFor() async throws {
        let emulator = Emulator.current
        let diary = AsyncApp.Diary()
        Task {
            let level = try await AsyncApp.level(Central())
            await diary.add("plain \(level != nil)")
            await Task.detached { await diary.add("detached") }.value
            Task { @MainActor in
                await diary.add("main actor")
                try await emulator.swiftClock.sleep(for: .seconds(5))
                await diary.add("later")
            }
        }
        try await emulator.advance(by: .seconds(10))
        #expect(await diary.lines == ["plain true", "detached", "main actor", "later"])
    }

    @Test func aTimeoutWithoutAClockIsInTheEmulatorsTime() async throws {
        let emulator = Emulator.current
        let error = await #expect(throws: BluetoothError.self) {
            try await emulator.run {
                try await withTimeout(.seconds(300)) {
                    for try await _ in Central().scan(for: [CBUUID(string: "FFFF")]) {}
                }
            }
        }
        #expect(error?.operation == .scan)
        #expect(emulator.now >= .seconds(300) && emulator.now < .seconds(301))
    }

    @Test func aConnectionIsMaintainedInTheEmulatorsTime() async throws {
        let emulator = Emulator.current
        let monitor = try #require(emulator.device(named: "Heart Rate Monitor"))
        let connections = try await emulator.run { () -> Int in
            var connections = 0
            for try await found in Central().scan(for: [CBUUID(string: "180D")]) {
                for await event in found.peripheral.maintainConnection() {
                    guard case .connected = event else { continue }
                    connections += 1
                    if connections == 5 { return connections }
                    monitor.disconnect()
                }
            }
            return connections
        }
        #expect(connections == 5)
        #expect(emulator.now < .seconds(60))
    }

    @Test func aServerIsInTheTestsWorld() async throws {
        let emulator = Emulator.current
        let value = try await emulator.run { () -> Data? in
            let server = PeripheralServer()
            let answer = ServedCharacteristic(CBUUID(string: "FFE1"), .read, onRead: { _ in Data([42]) })
            try await server.add(ServedService(CBUUID(string: "FFE0"), characteristics: [answer]))
            try await server.startAdvertising(name: "Here", services: [CBUUID(string: "FFE0")])
            defer { withExtendedLifetime(server) {} }
            for try await found in Central().scan(for: [CBUUID(string: "FFE0")]) {
                return try await found.peripheral.read("FFE0/FFE1")
            }
            return nil
        }
        #expect(value == Data([42]))
    }

    @Test @MainActor func theBodyOfRunIsOnTheCallersActor() async throws {
        var level: UInt8?
        try await Emulator.current.run {
            MainActor.assertIsolated()
            level = try await AsyncApp.level(Central())
        }
        #expect(level != nil)
    }

    @Test func theSameSeedGivesTheSameTraceWithManyTasks() async throws {
        let test = try #require(Test.current)
        // The worlds below are separate; this test's world is paused meanwhile, however slow the machine is.
        let hold = Emulator.current.hold()
        defer { hold.release() }
        let traces = Lock<[[String]]>([])
        for seed in Array(repeating: 5 as UInt64, count: 10) + [6] {
            try await EmulatorTrait.emulator(.default, seed: seed, world: .builtIn)
                .provideScope(for: test, testCase: nil) {
                    let emulator = Emulator.current
                    try await emulator.run {
                        let central = Central()
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for _ in 0..<5 {
                                group.addTask { _ = try await AsyncApp.level(central) }
                                group.addTask { _ = try await AsyncApp.beats(3, central) }
                                group.addTask { try await Task { _ = try await AsyncApp.level(Central()) }.value }
                            }
                            try await group.waitForAll()
                        }
                    }
                    traces.withLock { $0.append(emulator.trace.map(\.description)) }
                }
        }
        let all = traces.withLock { $0 }
        for trace in all[1..<10] { #expect(trace == all[0]) }
        #expect(all[10] != all[0])
    }
}
