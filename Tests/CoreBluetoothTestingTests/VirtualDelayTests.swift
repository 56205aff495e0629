import AsyncBluetooth
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

#if os(Linux)
/// `DispatchQueue.asyncAfter` in virtual time.
@Suite(.emulator(.instant)) struct VirtualDelayTests {
    private static let hour = Duration.seconds(3600)

    /// The lines of blocks, with the time.
    private final class Log: Sendable {
        private let emulator: Emulator
        private let lines = Lock<[String]>([])

        init(_ emulator: Emulator = .current) { self.emulator = emulator }

        func add(_ name: String) {
            let line = "\(emulator.now) \(name)"
            lines.withLock { $0.append(line) }
        }

        var all: [String] { lines.withLock { $0 } }
    }

    @Test func eachFormOfDelayLastsExactlyItsVirtualTime() async throws {
        let log = Log()
        let serial = DispatchQueue(label: "serial")
        let concurrent = DispatchQueue(label: "concurrent", attributes: .concurrent)
        DispatchQueue.main.asyncAfter(deadline: .now() + 1) {
            dispatchPrecondition(condition: .onQueue(.main))
            log.add("main")
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(2)) { log.add("global") }
        serial.asyncAfter(deadline: .now() + .milliseconds(3001)) {
            dispatchPrecondition(condition: .onQueue(serial))
            log.add("serial")
        }
        concurrent.asyncAfter(deadline: .now() + 4, qos: .utility, flags: .barrier) {
            dispatchPrecondition(condition: .onQueue(concurrent))
            log.add("concurrent")
        }
        DispatchQueue.main.asyncAfter(wallDeadline: .now() + .seconds(5)) { log.add("wall") }
        DispatchQueue.main.asyncAfter(wallDeadline: .now() + 6, execute: DispatchWorkItem { log.add("wall item") })
        DispatchQueue.main.asyncAfter(deadline: .now() + .seconds(3600), execute: DispatchWorkItem { log.add("item") })
        try await Emulator.current.runUntilIdle()
        #expect(
            log.all == [
                "1.0 seconds main", "2.0 seconds global", "3.001 seconds serial", "4.0 seconds concurrent",
                "5.0 seconds wall", "6.0 seconds wall item", "3600.0 seconds item",
            ])
    }

    @Test func callsOfBlocksAddUp() async throws {
        let log = Log()
        DispatchQueue.main.asyncAfter(deadline: .now() + 10) {
            log.add("first")
            DispatchQueue.global().asyncAfter(deadline: .now() + 20) {
                log.add("second")
                DispatchQueue.main.asyncAfter(deadline: .now() + 30) { log.add("third") }
            }
        }
        try await Emulator.current.runUntilIdle()
        #expect(log.all == ["10.0 seconds first", "30.0 seconds second", "60.0 seconds third"])
    }

    @Test func aBlockThatIsDueAtOnceRunsAtItsInstant() async throws {
        let log = Log()
        try await Emulator.current.advance(by: .seconds(3))
        DispatchQueue.main.asyncAfter(deadline: .now()) { log.add("now") }
        DispatchQueue.main.asyncAfter(deadline: .now() - 60) { log.add("past") }
        DispatchQueue.main.asyncAfter(deadline: .distantFuture) { log.add("never") }
        try await Emulator.current.advance(by: .zero)
        #expect(log.all == ["3.0 seconds now", "3.0 seconds past"])
        #expect(Emulator.current.isIdle)
    }

    @Test func aStoredDeadlineKeepsItsInstant() async throws {
        let log = Log()
        let deadline = DispatchTime.now() + 30
        let begin = DispatchTime.now()
        try await Emulator.current.advance(by: .seconds(10))
        _ = DispatchTime.now()
        DispatchQueue.main.asyncAfter(deadline: deadline) { log.add("stored") }
        DispatchQueue.main.asyncAfter(deadline: begin + 40 + .seconds(1)) { log.add("sum") }
        let now = DispatchTime.now().uptimeNanoseconds
        DispatchQueue.main.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: now + 5_000_000_000)) {
            log.add("nanoseconds")
        }
        try await Emulator.current.runUntilIdle()
        #expect(log.all == ["15.0 seconds nanoseconds", "30.0 seconds stored", "41.0 seconds sum"])
    }

    @Test func aCancelledItemDoesNotRun() async throws {
        let log = Log()
        let cancelled = Unchecked(DispatchWorkItem { log.add("cancelled") })
        let performed = DispatchWorkItem { log.add("item") }
        DispatchQueue.main.asyncAfter(deadline: .now() + 5, execute: cancelled.value)
        DispatchQueue.main.asyncAfter(deadline: .now() + 5, execute: performed)
        DispatchQueue.main.asyncAfter(deadline: .now() + 4) { cancelled.value.cancel() }
        try await Emulator.current.advance(by: .seconds(4))
        #expect(performed.wait(timeout: .now()) == .timedOut)
        try await Emulator.current.advance(by: .seconds(60))
        #expect(log.all == ["5.0 seconds item"])
        #expect(performed.wait(timeout: .now()) == .success)
        #expect(cancelled.value.isCancelled)
    }

    @Test func timeWaitsForTheBlock() async throws {
        let log = Log()
        DispatchQueue.global().asyncAfter(deadline: .now() + 5) {
            for _ in 0..<1000 { sched_yield() }
            log.add("end")
        }
        try await Emulator.current.advance(by: Self.hour)
        #expect(log.all == ["5.0 seconds end"])
    }

    @Test func theBlockIsReleasedBeforeTimeGoesOn() async throws {
        final class App: Sendable {
            let log: Log
            init(_ log: Log) { self.log = log }
            deinit {
                for _ in 0..<1000 { sched_yield() }
                log.add("deinit")
            }
        }
        let log = Log()
        func start() {
            let app = App(log)
            DispatchQueue.global().asyncAfter(deadline: .now() + 5) { app.log.add("block") }
        }
        start()
        try await Emulator.current.advance(by: Self.hour)
        #expect(log.all == ["5.0 seconds block", "5.0 seconds deinit"])
    }

    @Test func tasksOfABlockBelongToItsWorld() async throws {
        let log = Log()
        DispatchQueue.main.asyncAfter(deadline: .now() + 5) {
            Task {
                let begin = ContinuousClock.now
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().asyncAfter(deadline: .now() + 7) { continuation.resume() }
                }
                log.add("\(ContinuousClock.now - begin)")
            }
        }
        try await Emulator.current.advance(by: Self.hour)
        #expect(log.all == ["12.0 seconds 7.0 seconds"])
    }

    @Test func blocksOfOneWorldDoNotRunInTheTimeOfAnother() async throws {
        let (first, second) = (Emulator(time: .virtual), Emulator(time: .virtual))
        let log = Log(first)
        first.withTaskContext { DispatchQueue.main.asyncAfter(deadline: .now() + 10) { log.add("block") } }
        try await second.advance(by: .seconds(100))
        #expect(log.all == [])
        try await first.advance(by: .seconds(10))
        #expect(log.all == ["10.0 seconds block"])
    }

    #if compiler(>=6.3) && compiler(<6.4)
    @Test func blocksAndSleepsOfOneInstantRunInTheOrderOfTheirCalls() async throws {
        var courses: Set<[String]> = []
        for _ in 0..<20 {
            let emulator = Emulator(time: .virtual)
            let log = Log(emulator)
            try await emulator.run {
                let queues = [DispatchQueue.main, .global(), DispatchQueue(label: "app")]
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<6 {
                        queues[number % 3].asyncAfter(deadline: .now() + 5) {
                            log.add("block \(number)")
                            queues[(number + 1) % 3].asyncAfter(deadline: .now() + 1) { log.add("nested \(number)") }
                        }
                        group.addTask {
                            try await Task.sleep(for: .seconds(5))
                            log.add("sleep \(number)")
                        }
                        if number == 2 { await Task.yield() }
                    }
                    try await group.waitForAll()
                }
                try await Task.sleep(for: .seconds(1))
            }
            courses.insert(log.all)
        }
        let first = ["block 0", "block 1", "block 2", "sleep 0", "sleep 1", "sleep 2"]
        let second = ["block 3", "block 4", "block 5", "sleep 3", "sleep 4", "sleep 5"]
        let nested = (0..<6).map { "6.0 seconds nested \($0)" }
        #expect(courses == [(first + second).map { "5.0 seconds \($0)" } + nested])
    }
    #endif

    // MARK: Real time

    @Test func readingsAndWaitsOfThreadsRemainReal() async throws {
        let begin = DispatchTime.now()
        let time = Emulator.current.now
        #expect(DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1)) == .timedOut)
        #expect(Emulator.current.now == time)
        try await Emulator.current.advance(by: Self.hour)
        #expect(DispatchTime.now().uptimeNanoseconds - begin.uptimeNanoseconds < 3_600_000_000_000)
    }

    /// Returns whether a closure is called within ten seconds, during which nothing drives virtual time.
    private func isCalled(_ start: (_ body: @escaping @Sendable () -> Void) -> Void) async -> Bool {
        await withCheckedContinuation { continuation in
            let limit = SystemClock().call(after: .seconds(10)) { continuation.resume(returning: false) }
            start { if limit.claim() { continuation.resume(returning: true) } }
        }
    }

    @Test func aCallOutsideOfAWorldTakesRealTime() async {
        let isCalled = await isCalled { body in
            Thread.detachNewThread {
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1), execute: body)
            }
        }
        #expect(isCalled)
        #expect(Emulator.current.now == .zero)
    }

    @Test func aDelayOfTheMachineTakesRealTimeInAWorld() async {
        let isCalled = await isCalled {
            DispatchQueue.global().asyncAfter(machineDeadline: .now() + .milliseconds(1), execute: $0)
        }
        #expect(isCalled)
        #expect(Emulator.current.now == .zero)
    }

    @Test func theBlocksOfADeallocatedWorldTakeRealTime() async {
        weak var world: Emulator?
        let isCalled = await isCalled { body in
            let emulator = Emulator(time: .virtual)
            world = emulator
            emulator.withTaskContext {
                DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(1), execute: body)
            }
        }
        #expect(isCalled)
        #expect(world == nil)
    }

    // MARK: The end of a test

    private final class App: NSObject, CBCentralManagerDelegate, @unchecked Sendable {
        // Invariant: used by one test, one step after the other.
        private var manager: CBCentralManager?
        var isStopped = false
        var log: Log?

        override init() {
            super.init()
            manager = CBCentralManager(delegate: self, queue: nil)
        }

        deinit { log?.add("released") }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            DispatchQueue.main.asyncAfter(deadline: .now() + 60) { self.isStopped = true }
        }
    }

    @Test func aBlockOfACallbackWaitsForVirtualTime() async throws {
        let app = App()
        await Emulator.current.expect(.didUpdateState)
        try await Emulator.current.advance(by: .seconds(59))
        #expect(!app.isStopped)
        try await Emulator.current.advance(by: .seconds(1))
        #expect(app.isStopped)
    }

    @Test func aBlockThatWaitsAtTheEndOfATestIsReleased() async throws {
        let log = Log()
        let messages = try await IssueCollector.issues {
            let app = App()
            app.log = log
            await Emulator.current.expect(.didUpdateState)
        }
        #expect(messages == [])
        #expect(log.all == ["0.0 seconds released"])
    }

    @Test func aHandlerThatWaitsForABlockDelaysItsAnswerInVirtualTime() async throws {
        try Emulator.current.add(EmulatedPeripheral(PatientHandler.description, handler: PatientHandler()))
        let level = Lock<UInt8?>(nil)
        let begin = Emulator.current.now
        try await Emulator.current.run {
            for try await found in Central().scan(for: [CBUUID(string: "180F")]) {
                let value = try await found.peripheral.read("180F/2A19").first
                level.withLock { $0 = value }
                break
            }
        }
        let time = Emulator.current.now - begin
        #expect(level.withLock { $0 } == 42)
        #expect(time >= .seconds(20) && time < .seconds(21))
    }
}

private struct PatientHandler: AsynchronousPeripheralHandler {
    static let description = PeripheralDescription(
        name: "Patient", advertising: [AdvertisingDescription(AdvertisingData(services: ["180F"]))],
        services: [ServiceDescription("180F", characteristics: [CharacteristicDescription("2A19", [.read])])])

    func respond(to request: PeripheralRequest) async -> PeripheralResponse {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + 20) { continuation.resume() }
        }
        return .value(Data([42]))
    }
}
#endif
