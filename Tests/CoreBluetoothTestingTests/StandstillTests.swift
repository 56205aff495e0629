import AsyncBluetooth
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Synchronization
import Testing

/// The failures of tests in which virtual time cannot advance, observed from outside.
@Suite struct StandstillTests {
    private func issues(_ body: @escaping @Sendable () async throws -> Void) async throws -> [String] {
        try await IssueCollector.issues(allowing: [.unansweredCommands, .livingObjects]) {
            Emulator.current.settleTimeout = .milliseconds(200)
            try await body()
        }
    }

    @Test func aTestThatWaitsWhileTimeStandsFailsWithAdviceAndEnds() async throws {
        let level = Lock<UInt8?>(nil)
        let messages = try await issues {
            let read = try await AsyncApp.level(Central())
            level.withLock { $0 = read }
        }
        #expect(messages.count == 1)
        #expect(messages.first?.contains("virtual time is paused at 0.0 seconds: nothing drives it") == true)
        #expect(messages.first?.contains("emulator.run { … }") == true)
        // Time was driven, so that the test could end.
        #expect(level.withLock { $0 } != nil)
    }

    @Test func aTestThatWaitsForWhatNeverHappensIsCancelled() async throws {
        let wasCancelled = Lock(false)
        let messages = try await issues {
            do {
                for try await _ in Central().scan(for: [CBUUID(string: "FFFF")]) {}
            } catch {
                wasCancelled.withLock { $0 = error is CancellationError }
            }
        }
        #expect(messages.count == 1)
        #expect(wasCancelled.withLock { $0 })
    }

    @Test func aTaskThatSpinsFailsTheDriverAndNotTheProcess() async throws {
        let emulator = Emulator(time: .virtual)
        emulator.settleTimeout = .milliseconds(200)
        let isOver = Shared(false)
        let task = Task(executorPreference: emulator.executor) {
            while !isOver.withLock({ $0 }) { await Task.yield() }
        }
        await #expect(throws: EmulatorError.tasksUnsettled) { try await emulator.advance(by: .seconds(1)) }
        isOver.withLock { $0 = true }
        await task.value
        try await emulator.advance(by: .seconds(1))
        #expect(emulator.now == .seconds(1))
    }

    @Test func aTaskThatBlocksItsThreadForAnotherOneDelaysIt() async throws {
        let emulator = Emulator(time: .virtual)
        let semaphore = DispatchSemaphore(value: 0)
        let order = Shared<[String]>([])
        Task(executorPreference: emulator.executor) {
            semaphore.waitForSignal()
            order.withLock { $0.append("blocked") }
        }
        Task(executorPreference: emulator.executor) {
            order.withLock { $0.append("signals") }
            semaphore.signal()
        }
        try await emulator.advance(by: .seconds(1))
        #expect(order.withLock { $0 } == ["signals", "blocked"])
    }

    @Test(.timeLimit(.minutes(1))) func aCallbackThatWaitsForATaskEndsTheRunAndTheTaskRunsThen() async throws {
        let emulator = Emulator(time: .virtual)
        emulator.settleTimeout = .milliseconds(200)
        let app = BlockingApp()
        let box = ManagerBox()
        await #expect(throws: EmulatorError.unsettled(label: "app")) {
            try await emulator.run {
                // From here on, the thread of the tasks drives time.
                try await Task.sleep(for: .seconds(1))
                box.manager = CBCentralManager(delegate: app, queue: DispatchQueue(label: "app"))
                try await Task.sleep(for: .seconds(1))
            }
        }
        for await _ in app.returns.stream { break }
    }

    @Test func aBlockedQueueIsNamedWhileLeftoversAreLookedFor() async throws {
        let semaphore = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "blocked queue")
        let box = ManagerBox()
        let messages = try await issues {
            box.manager = CBCentralManager(delegate: nil, queue: queue)
            await Emulator.current.expectNone(of: .didConnect, for: .seconds(1))
            await withCheckedContinuation { blocked in
                queue.async {
                    blocked.resume()
                    semaphore.waitForSignal()
                }
            }
        }
        semaphore.signal()
        box.manager = nil
        #expect(messages.contains { $0.contains("blocked: a callback on the queue \"blocked queue\"") }, "\(messages)")
    }

    /// The wait for such a task may end before the thread that began it has finished.
    @Test(.timeLimit(.minutes(5))) func timeAdvancesWhileTasksOfNoWorldComeAndGo() async throws {
        let emulator = Emulator(time: .virtual)
        let isOver = Shared(false)
        Thread.detachNewThread {
            let semaphore = DispatchSemaphore(value: 0)
            while !isOver.withLock({ $0 }) {
                Task.detached { semaphore.signal() }
                semaphore.wait()
            }
        }
        defer { isOver.withLock { $0 = true } }
        try await emulator.run {
            for _ in 0..<20_000 {
                async let other: Void = Task.yield()
                try await emulator.swiftClock.sleep(for: .milliseconds(1))
                await other
            }
        }
        #expect(emulator.now == .seconds(20))
    }

    @Test func aSleepDoesNotKeepTimeFromAdvancing() async throws {
        let emulator = Emulator(time: .virtual)
        let sleeper = Task(executorPreference: emulator.executor) { try await Task.sleep(for: .seconds(3600)) }
        try await emulator.advance(by: .seconds(60))
        #expect(emulator.now == .seconds(60))
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func aHoldKeepsTimeForWhatTheEmulatorCannotObserve() async throws {
        let emulator = Emulator(time: .virtual)
        let times = Shared<[Duration]>([])
        let hold = emulator.hold()
        Task(executorPreference: emulator.executor) {
            defer { hold.release() }
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume() }
            }
            times.withLock { $0.append(emulator.now) }
        }
        try await emulator.advance(by: .seconds(60))
        #expect(times.withLock { $0 } == [.zero])
        #expect(emulator.now == .seconds(60))
    }

    @Test func aSleepUnderAHoldIsNamed() async throws {
        let emulator = Emulator(time: .virtual)
        emulator.settleTimeout = .milliseconds(200)
        let hold = emulator.hold()
        Task(executorPreference: emulator.executor) {
            defer { hold.release() }
            try await Task.sleep(for: .seconds(1))
        }
        let error = await #expect(throws: EmulatorError.held) { try await emulator.advance(by: .seconds(60)) }
        #expect(error?.description.contains("Task.sleep") == true)
    }

    @Test func aThreadOfItsOwnIsNotSeenAndAHoldKeepsTimeForIt() async throws {
        let emulator = Emulator(time: .virtual)
        let time = Shared<Duration?>(nil)
        let hold = emulator.hold()
        Thread.detachNewThread {
            time.withLock { $0 = emulator.now }
            hold.release()
        }
        try await emulator.advance(by: .seconds(60))
        #expect(time.withLock { $0 } == .zero)
    }
}

private final class ManagerBox: @unchecked Sendable {
    // Invariant: used by one test, one step after the other.
    var manager: CBCentralManager?
}

/// An app that blocks in a callback until a task has run.
private final class BlockingApp: NSObject, CBCentralManagerDelegate, Sendable {
    let returns = AsyncStream.makeStream(of: Void.self)

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        let semaphore = DispatchSemaphore(value: 0)
        Task { semaphore.signal() }
        semaphore.waitForSignal()
        returns.continuation.yield()
    }
}

/// A value that several tasks share.
final class Shared<Value: Sendable>: Sendable {
    private let value: Lock<Value>

    init(_ value: Value) { self.value = Lock(value) }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
}

extension DispatchSemaphore {
    /// Calls `wait()`, which async code may not call, as it blocks the thread.
    fileprivate func waitForSignal() { wait() }
}
