import BluetoothBackend
import BluetoothSupport
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import BluetoothEmulator

@Suite struct DriverTests {
    /// An endless sequence of reads at one instant.
    @Test func anEndlessInstantIsALivelockAndShowsTheTrace() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let device = try emulator.add(ContractPeer.description)
        let central = emulator.makeCentral(RoleOptions())
        let sink = RecordingSink { event in
            switch event {
            case .connected(_, let link, _, _), .response(let link, _, .rssi):
                central.submit(.request(link: link, operation: op(1), .readRSSI))
            default: break
            }
        }
        central.activate(sink)
        emulator.host.remember(device)
        try await emulator.advance(by: .zero)
        central.submit(.connect(peer: try #require(device.identifier()), operation: op(1), options: ConnectOptions()))
        let error = await #expect(throws: EmulatorError.self) { try await emulator.advance(by: .seconds(10)) }
        guard case .livelock(let at, let trace)? = error else { Issue.record("\(String(describing: error))"); return }
        #expect(at < .seconds(1))
        #expect(trace.count == 20)
        #expect(["readRSSI", "rssiRead"].contains(trace.last?.name))
    }

    @Test func whatCallbacksCauseHappensAtTheSameInstant() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let device = try emulator.add(ContractPeer.description)
        let central = emulator.makeCentral(RoleOptions())
        let times = Lock<[Duration]>([])
        let sink = RecordingSink { event in
            times.withLock { $0.append(emulator.now) }
            switch event {
            case .stateChanged: central.submit(.startScan(ScanParameters()))
            case .discovered(let discovery):
                central.submit(.stopScan)
                central.submit(.connect(peer: discovery.peer, operation: op(1), options: ConnectOptions()))
            case .connected(_, let link, _, _):
                central.submit(.request(link: link, operation: op(2), .discoverServices(nil)))
            default: break
            }
        }
        central.activate(sink)
        try await emulator.advance(
            until: { sink.events.contains { if case .response(_, _, .services) = $0 { true } else { false } } })
        // The instants are those of the state, of two reports of one packet, and of the connection, name and services
        // after the next packet.
        let instants = times.withLock { $0 }
        #expect(Set(instants).count == 3, "\(instants)")
        #expect(instants.first == .zero)
        #expect(instants.last == emulator.now)
        _ = device
    }

    @Test func timeStandsWhileItIsHeld() async throws {
        let emulator = Emulator(time: .virtual)
        let hold = emulator.hold()
        #expect(!emulator.isIdle)
        async let driven: Void = emulator.advance(by: .seconds(5))
        // The driver cannot leave this instant before the hold is released.
        #expect(emulator.now == .zero)
        hold.release()
        try await driven
        #expect(emulator.now == .seconds(5))
        hold.release()
        #expect(emulator.isIdle)
    }

    @Test func aSleeperWakesAtItsInstant() async throws {
        let emulator = Emulator(time: .virtual)
        // A sleep releases its task's hold for its duration, so the driver waits for its beginning and its end.
        let hold = emulator.hold()
        let task = Task {
            defer { hold.release() }
            try await TimeHold.$current.withValue(hold) { try await emulator.swiftClock.sleep(for: .seconds(3)) }
            return emulator.now
        }
        try await emulator.runUntilIdle()
        #expect(emulator.now == .seconds(3))
        #expect(try await task.value == .seconds(3))
    }

    @Test func aCancelledSleeperThrowsAndLeavesNothing() async throws {
        let emulator = Emulator(time: .virtual)
        let hold = emulator.hold()
        let task = Task {
            try await TimeHold.$current.withValue(hold) { try await emulator.swiftClock.sleep(for: .seconds(3)) }
        }
        await withCheckedContinuation { asleep in emulator.whenReleased { asleep.resume() } }
        #expect(!emulator.isIdle)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        hold.release()
        #expect(emulator.isIdle)
    }

    @Test func theBackendClockCallsOnceAndNotWhenCancelled() async throws {
        let emulator = Emulator(time: .virtual)
        let calls = Lock<[String]>([])
        let clock = emulator.clock
        clock.schedule(after: .seconds(2)) { calls.withLock { $0.append("two") } }
        clock.schedule(after: .seconds(1)) { calls.withLock { $0.append("one") } }
        clock.schedule(after: .seconds(1)) { calls.withLock { $0.append("never") } }.cancel()
        #expect(calls.withLock { $0 } == [])
        try await emulator.runUntilIdle()
        #expect(calls.withLock { $0 } == ["one", "two"])
        #expect(clock.now == .seconds(2))
        #expect(clock.date.timeIntervalSince1970 == 1_735_689_602)
    }

    @Test func onlyVirtualTimeIsDrivenAndByOneAtATime() async throws {
        await #expect(throws: EmulatorError.notVirtual) { try await Emulator().advance(by: .zero) }
        let emulator = Emulator(time: .virtual)
        let hold = emulator.hold()
        let (driving, asked) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            let end = EmulatorError.conditionNotMet(within: .seconds(1))
            await #expect(throws: end) {
                try await emulator.advance(
                    until: {
                        asked.yield()
                        return false
                    }, within: .seconds(1))
            }
        }
        for await _ in driving { break }
        await #expect(throws: EmulatorError.alreadyDriven) { try await emulator.advance(by: .seconds(1)) }
        hold.release()
        await first.value
        #expect(emulator.now == .seconds(1))
    }

    /// The settle timeout is in real time; it can be this short because no event arrives before it ends.
    @Test func aReceiverThatDoesNotSettleIsAnErrorThatNamesIt() async throws {
        let emulator = Emulator(time: .virtual)
        emulator.core.withLock { $0.virtual.settleTimeout = .milliseconds(20) }
        let central = emulator.makeCentral(RoleOptions())
        central.activate(StuckSink())
        let error = EmulatorError.unsettled(label: "stuck sink")
        await #expect(throws: error) { try await emulator.advance(by: .seconds(1)) }
        #expect(throws: error) { try emulator.advanceSynchronously(by: .seconds(1)) }
        #expect(error.description.contains("stuck sink"))
        central.invalidate()
        try await emulator.advance(by: .seconds(1))
    }

    @Test func aHoldThatIsNotReleasedIsAnError() async throws {
        let emulator = Emulator(time: .virtual)
        emulator.core.withLock { $0.virtual.settleTimeout = .milliseconds(20) }
        let hold = emulator.hold()
        await #expect(throws: EmulatorError.held) { try await emulator.advance(by: .seconds(1)) }
        #expect(throws: EmulatorError.held) { try emulator.advanceSynchronously(by: .seconds(1)) }
        #expect(emulator.now == .zero)
        hold.release()
        try await emulator.advance(by: .seconds(1))
        #expect(emulator.now == .seconds(1))
    }

    @Test func theLimitOfAConditionIsAnError() async throws {
        let emulator = Emulator(time: .virtual)
        await #expect(throws: EmulatorError.conditionNotMet(within: .seconds(2))) {
            try await emulator.advance(until: { false }, within: .seconds(2))
        }
        #expect(emulator.now == .seconds(2))
    }

    @Test func idleMeansThatOnlyWhatRepeatsIsPending() async throws {
        let fixture = Fixture()
        try fixture.emulator.add(ContractPeer.description)
        try await fixture.powerOn()
        fixture.submit(.startScan(ScanParameters(allowDuplicates: true)))
        #expect(!fixture.emulator.isIdle)
        try await fixture.emulator.runUntilIdle()
        #expect(fixture.emulator.isIdle)
        #expect(fixture.emulator.now == .zero)
    }

    @Test func theSynchronousTwinsDoTheSame() throws {
        let emulator = Emulator(time: .virtual)
        try emulator.add(ContractPeer.description)
        let central = emulator.makeCentral(RoleOptions())
        let sink = RecordingSink { event in
            if event == .stateChanged(.poweredOn) { central.submit(.startScan(ScanParameters())) }
        }
        central.activate(sink)
        try emulator.advanceSynchronously(by: .milliseconds(99))
        #expect(sink.events.isEmpty)
        try emulator.advanceSynchronously(until: { sink.events.count == 3 })
        try emulator.runUntilIdleSynchronously()
        #expect(throws: EmulatorError.conditionNotMet(within: .seconds(1))) {
            try emulator.advanceSynchronously(until: { false }, within: .seconds(1))
        }
    }

    @Test func realTimeNeedsNoDriver() async throws {
        let emulator = Emulator(configuration: .instant, time: .scaled(by: 100))
        try emulator.add(ContractPeer.description)
        let central = emulator.makeCentral(RoleOptions())
        let (reports, continuation) = AsyncStream.makeStream(of: Discovery.self)
        let sink = RecordingSink { event in
            switch event {
            case .stateChanged(.poweredOn): central.submit(.startScan(ScanParameters()))
            case .discovered(let discovery): continuation.yield(discovery)
            default: break
            }
        }
        central.activate(sink)
        var iterator = reports.makeAsyncIterator()
        #expect(await iterator.next()?.advertisement.localName == nil)
        #expect(await iterator.next()?.advertisement.localName == "Contract")
        central.invalidate()
    }

    @Test func hundredsOfWorldsLiveSideBySide() async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for seed in 0..<200 as Range<UInt64> {
                group.addTask {
                    let fixture = Fixture(.instant, seed: seed)
                    let device = try fixture.emulator.add(ContractPeer.description)
                    try await fixture.powerOn()
                    let link = try await fixture.connect(device)
                    return try await fixture.attributes(link).characteristics.count
                }
            }
            for try await count in group { #expect(count == 15) }
        }
    }
}

/// A receiver that never handles its events, as on a blocked queue.
private final class StuckSink: EventSink {
    let label = "stuck sink"
    func deliver(_ event: CentralEvent) {}
    func afterDelivery(_ body: @escaping @Sendable () -> Void) {}
}

@Suite struct WaitAgeTests {
    private func ticks(_ hasFreeThreads: [Bool]) -> Int? {
        var age = WaitAge()
        for (index, isFree) in hasFreeThreads.enumerated() {
            age.tick(hasFreeThreads: isFree)
            if age.isOver { return index + 1 }
        }
        return nil
    }

    @Test func aWaitOfAProcessWithFreeThreadsEndsAfterItsLimit() {
        #expect(ticks(Array(repeating: true, count: 60)) == 10)
    }

    @Test func aWaitOfABusyProcessEndsAfterFiveTimesItsLimit() {
        #expect(ticks(Array(repeating: false, count: 60)) == 50)
    }

    @Test func ticksWithoutFreeThreadsDoNotCountWhileWorkIsDone() {
        // Every third tick has a free thread.
        #expect(ticks((1...60).map { $0.isMultiple(of: 3) }) == 30)
    }
}
