import AsyncBluetooth
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

#if compiler(>=6.3) && compiler(<6.4)
/// Sleeps and the clocks of the system in virtual time; each test takes hours of it.
@Suite(.emulator(.instant)) struct VirtualSleepTests {
    private static let hour = Duration.seconds(3600)

    private actor DefaultActor {
        func sleep(_ duration: Duration) async throws { try await Task.sleep(for: duration) }
    }

    @MainActor private static func sleepOnTheMainActor(_ duration: Duration) async throws {
        try await Task.sleep(for: duration)
    }

    /// Runs a body, and returns the virtual time that it took.
    private func elapsed(_ body: @escaping @Sendable () async throws -> Void) async throws -> Duration {
        let emulator = Emulator.current
        let begin = emulator.now
        try await emulator.run(within: .seconds(100_000), body)
        return emulator.now - begin
    }

    @Test func eachFormOfSleepLastsExactlyItsVirtualTime() async throws {
        #expect(try await elapsed { try await Task.sleep(for: Self.hour) } == Self.hour)
        #expect(
            try await elapsed { try await Task.sleep(nanoseconds: 3_600_000_000_001) } == Self.hour + .nanoseconds(1))
        #expect(try await elapsed { try await Task.sleep(until: .now + Self.hour) } == Self.hour)
        #expect(try await elapsed { try await ContinuousClock().sleep(for: Self.hour) } == Self.hour)
        #expect(try await elapsed { try await SuspendingClock().sleep(for: Self.hour) } == Self.hour)
    }

    @Test func aSleepIsVirtualInEachKindOfTask() async throws {
        #expect(try await elapsed { try await Task { try await Task.sleep(for: Self.hour) }.value } == Self.hour)
        #expect(
            try await elapsed { try await Task.detached { try await Task.sleep(for: Self.hour) }.value } == Self.hour)
        #expect(
            try await elapsed {
                async let sleep: Void = Task.sleep(for: Self.hour); try await sleep
            } == Self.hour)
        #expect(try await elapsed { try await DefaultActor().sleep(Self.hour) } == Self.hour)
        #expect(try await elapsed { try await Self.sleepOnTheMainActor(Self.hour) } == Self.hour)
        let ofDetached = try await elapsed {
            try await Task.detached { try await DefaultActor().sleep(Self.hour) }.value
        }
        #expect(ofDetached == Self.hour)
        let ofGroup = try await elapsed {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for hours in 1...3 { group.addTask { try await Task.sleep(for: Self.hour * hours) } }
                try await group.waitForAll()
            }
        }
        #expect(ofGroup == Self.hour * 3)
    }

    @Test func theClocksOfTheSystemShowVirtualTime() async throws {
        let emulator = Emulator.current
        try await emulator.run {
            let (continuous, suspending) = (ContinuousClock.now, SuspendingClock.now)
            try await Task.sleep(for: .milliseconds(1500))
            #expect(ContinuousClock.now - continuous == .milliseconds(1500))
            #expect(SuspendingClock.now - suspending == .milliseconds(1500))
        }
        let begin = ContinuousClock.now
        try await emulator.advance(by: Self.hour)
        #expect(ContinuousClock.now - begin == Self.hour)
    }

    @Test func aLoopUntilADeadlineEndsAtTheDeadline() async throws {
        let rounds = Lock(0)
        let time = try await elapsed {
            let deadline = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < deadline {
                rounds.withLock { $0 += 1 }
                try await Task.sleep(for: .seconds(7))
            }
        }
        #expect(rounds.withLock { $0 } == 9)
        #expect(time == .seconds(63))
    }

    @Test func aCancelledSleepEndsAtOnce() async throws {
        let time = try await elapsed {
            let sleep = Task { try await Task.sleep(for: Self.hour) }
            try await Task.sleep(for: .seconds(1))
            sleep.cancel()
            await #expect(throws: CancellationError.self) { try await sleep.value }
        }
        #expect(time == .seconds(1))
    }

    @Test func tasksOfOneWorldDoNotSleepInTheTimeOfAnother() async throws {
        let (first, second) = (Emulator(time: .virtual), Emulator(time: .virtual))
        let isOver = Lock(false)
        let task = Task(executorPreference: first.executor) {
            try await Task.sleep(for: .seconds(10))
            isOver.withLock { $0 = true }
        }
        try await second.advance(by: .seconds(100))
        #expect(!isOver.withLock { $0 })
        try await first.advance(by: .seconds(10))
        #expect(isOver.withLock { $0 })
        try await task.value
    }

    private struct SleepyHandler: AsynchronousPeripheralHandler {
        static let description = PeripheralDescription(
            name: "Sleepy", advertising: [AdvertisingDescription(AdvertisingData(services: ["180F"]))],
            services: [ServiceDescription("180F", characteristics: [CharacteristicDescription("2A19", [.read])])])

        func respond(to request: PeripheralRequest) async -> PeripheralResponse {
            do {
                try await Task.sleep(for: .seconds(20))
                return .value(Data([42]))
            } catch {
                return .error(.unlikelyError)
            }
        }
    }

    @Test func aHandlerThatSleepsDelaysItsAnswerInVirtualTime() async throws {
        try Emulator.current.add(EmulatedPeripheral(SleepyHandler.description, handler: SleepyHandler()))
        let level = Lock<UInt8?>(nil)
        let time = try await elapsed {
            for try await found in Central().scan(for: [CBUUID(string: "180F")]) {
                let value = try await found.peripheral.read("180F/2A19").first
                level.withLock { $0 = value }
                break
            }
        }
        #expect(level.withLock { $0 } == 42)
        #expect(time >= .seconds(20) && time < .seconds(21))
    }
}

/// Sleeps of tests without an emulator of their own.
@Suite struct SleepOutsideOfWorldsTests {
    @Test(.timeLimit(.minutes(1))) func aTaskThatIsOlderThanAWorldDoesNotSleepInItsTime() async throws {
        let world = Emulator(time: .virtual)
        await withCheckedContinuation { continuation in
            // Without the delay, this task might not wait yet.
            Task(executorPreference: world.executor) {
                try await Task.sleep(for: .seconds(1))
                continuation.resume()
            }
            Task { try await world.advance(by: .seconds(1)) }
        }
        // Nothing drives the world's time any longer.
        try await Task.sleep(for: .nanoseconds(1))
        withExtendedLifetime(world) {}
    }
}
#endif
