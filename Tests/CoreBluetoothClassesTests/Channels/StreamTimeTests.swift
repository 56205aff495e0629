#if Emulator
import BluetoothEmulator
import BluetoothSupport
import Dispatch
import Foundation
import Testing

@testable import CoreBluetoothClasses

/// The events of streams in virtual time.
@Suite struct StreamTimeTests {
    /// A run loop that a stream is scheduled in.
    enum Loop: CaseIterable {
        case main, endless

        func schedule(_ channel: CBL2CAPChannel) {
            switch self {
            case .main: channel.inputStream.schedule(in: .main, forMode: .default)
            case .endless: channel.schedule(inEndless: Self.running.value)
            }
        }

        private static let running = makeLoop { loop in
            loop.add(
                Timer(fire: .distantFuture, interval: .greatestFiniteMagnitude, repeats: true) { _ in },
                forMode: .default)
            while true { _ = loop.run(mode: .default, before: .distantFuture) }
        }
    }

    /// Returns the loop of a new thread, which then runs `body`.
    private static func makeLoop(_ body: @escaping @Sendable (RunLoop) -> Void) -> Unchecked<RunLoop> {
        let created = Lock<Unchecked<RunLoop>?>(nil)
        let isCreated = DispatchSemaphore(value: 0)
        Thread {
            created.withLock { $0 = Unchecked(.current) }
            isCreated.signal()
            body(.current)
        }.start()
        isCreated.wait()
        guard let loop = created.withLock({ $0 }) else { preconditionFailure("the thread has a run loop") }
        return loop
    }

    private let emulator = Emulator(configuration: .instant, time: .virtual)

    private func open() throws -> (near: CBL2CAPChannel, far: Unchecked<CBL2CAPChannel>, pair: ChannelPair) {
        let pair = ChannelPair(window: 10, clock: emulator.clock)
        let (near, far) = (try #require(pair.channel(pair.near)), try #require(pair.channel(pair.far)))
        far.outputStream.open()
        return (near, Unchecked(far), pair)
    }

    /// Lets a byte arrive when a second of virtual time is over.
    private func send(by far: Unchecked<CBL2CAPChannel>) {
        emulator.clock.schedule(after: .seconds(1)) { far.value.outputStream.write(Data([1])) }
    }

    @Test(arguments: Loop.allCases) func timePassesOnlyAfterTheDelegateHasHandledAnEvent(loop: Loop) async throws {
        let (near, far, pair) = try open()
        let times = Lock<[Duration]>([])
        let listener = StreamListener { [emulator] _, event in
            guard event == .hasBytesAvailable else { return }
            // If time did not wait for this handler, it would pass now.
            while emulator.activity.isDriven, emulator.activity.areTasksQuiet, emulator.now == .seconds(1) {}
            times.withLock { $0.append(emulator.now) }
        }
        near.inputStream.delegate = listener
        loop.schedule(near)
        near.inputStream.open()
        send(by: far)
        try await emulator.advance(by: .seconds(60))
        #expect(times.withLock { $0 } == [.seconds(1)])
        #expect(emulator.now == .seconds(60))
        withExtendedLifetime(pair) {}
    }

    @Test(arguments: Loop.allCases) func theTasksThatAHandlerStartsBelongToTheWorld(loop: Loop) async throws {
        let (near, far, pair) = try open()
        let started = Lock<[UInt64]>([])
        let listener = StreamListener { [emulator] _, event in
            guard event == .hasBytesAvailable else { return }
            let count = emulator.activity.taskCount
            Task {}
            started.withLock { $0.append(emulator.activity.taskCount - count) }
        }
        near.inputStream.delegate = listener
        loop.schedule(near)
        near.inputStream.open()
        send(by: far)
        try await emulator.advance(by: .seconds(60))
        #expect(started.withLock { $0 } == [1])
        withExtendedLifetime(pair) {}
    }

    // MARK: Events that no loop delivers

    /// The loop of a thread that has ended.
    private static let stopped = makeLoop { _ in }

    @Test func timeDoesNotWaitForALoopThatDoesNotRun() async throws {
        let (near, far, pair) = try open()
        let listener = StreamListener()
        near.inputStream.delegate = listener
        near.inputStream.schedule(in: Self.stopped.value, forMode: .default)
        near.inputStream.open()
        send(by: far)
        try await emulator.advance(by: .seconds(60))
        #expect(emulator.now == .seconds(60))
        #expect(listener.lines.isEmpty)
        withExtendedLifetime(pair) {}
    }

    @Test func timeDoesNotWaitForADelegateThatIsMissing() async throws {
        let (near, far, pair) = try open()
        near.inputStream.schedule(in: .main, forMode: .default)
        near.inputStream.open()
        send(by: far)
        try await emulator.advance(by: .seconds(60))
        #expect(emulator.now == .seconds(60))
        withExtendedLifetime(pair) {}
    }

    /// The ends of a wait for a loop, which here lasts until then.
    enum End: CaseIterable {
        case remove, close, release
    }

    @Test(arguments: End.allCases) func aStreamThatLeavesItsLoopNoLongerStopsTime(end: End) async throws {
        var ends: (near: CBL2CAPChannel?, far: Unchecked<CBL2CAPChannel>, pair: ChannelPair) = try open()
        let listener = StreamListener()
        ends.near?.inputStream.delegate = listener
        ends.near?.schedule(inEndless: Self.stopped.value)
        ends.near?.inputStream.open()
        // A crowded machine may take longer than usual to begin.
        emulator.settleTimeout = .seconds(100)
        let isOver = Lock(false)
        async let advancing: Void = {
            defer { isOver.withLock { $0 = true } }
            try await emulator.advance(by: .seconds(60))
        }()
        while !emulator.activity.isDriven, !isOver.withLock({ $0 }) { await Task.yield() }
        #expect(emulator.now == .zero)
        switch end {
        case .remove: ends.near?.inputStream.remove(from: Self.stopped.value, forMode: .default)
        case .close: ends.near?.inputStream.close()
        case .release: ends.near = nil
        }
        try await advancing
        #expect(emulator.now == .seconds(60))
        #expect(listener.lines.isEmpty)
        withExtendedLifetime(ends) {}
    }
}
#endif
