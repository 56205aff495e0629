#if os(Linux)
import Dispatch
import Glibc
import ScriptedBlueZ
import Testing

@testable import BluetoothDBus

@Suite struct SocketPollerTests {
    private typealias Events = SocketPoller.Events

    /// The reported events, and the thread that reported them.
    private struct Turn: Sendable {
        let events: Events
        let thread: pthread_t
    }

    private let queue = DispatchQueue(label: "SocketPollerTests")
    private let turns = Recorder<Turn>()
    private let ours: DBusFileDescriptor
    private let theirs: DBusFileDescriptor

    init() throws {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        ours = DBusFileDescriptor(adopting: ends[0])
        theirs = DBusFileDescriptor(adopting: ends[1])
    }

    /// Returns a poller that reads one byte for each event, and runs work inline if allowed.
    private func makePoller(work: (@Sendable () -> Void)? = nil) throws -> SocketPoller {
        try SocketPoller(socket: ours.rawValue, queue: queue) { [ours, turns, queue] events, allowsInline in
            dispatchPrecondition(condition: .onQueue(queue))
            var byte: UInt8 = 0
            if events.contains(.readable) { _ = recv(ours.rawValue, &byte, 1, 0) }
            turns.append(Turn(events: events, thread: pthread_self()))
            return allowsInline ? work : nil
        }
    }

    private func write(_ count: Int = 1) {
        let bytes = [UInt8](repeating: 1, count: count)
        #expect(send(theirs.rawValue, bytes, count, 0) == count)
    }

    @Test func whatCanBeReadIsReportedOnTheIdleQueueByOneThread() async throws {
        let poller = try makePoller()
        poller.wait(for: .readable)
        for count in 1...3 {
            write()
            try await turns.wait { $0.count == count }
        }
        #expect(turns.elements.allSatisfy { $0.events == .readable })
        #expect(Set(turns.elements.map(\.thread)).count == 1)
        #expect(!turns.elements.contains { $0.thread == pthread_self() })
        poller.stop()
    }

    @Test func anotherWishIsHeardInMidWait() async throws {
        let poller = try makePoller()
        poller.wait(for: .readable)
        write()
        try await turns.wait { $0.count == 1 }
        // The poller waits again by now, or is about to.
        poller.wait(for: .writable)
        try await turns.first { $0.events == .writable }
        poller.wait(for: [])
        poller.stop()
    }

    @Test func whereNothingIsRequestedNotEvenTheEndIsReported() async throws {
        let poller = try makePoller()
        let end = try #require(theirs.release())
        close(end)
        queue.sync {}
        #expect(turns.elements.isEmpty)
        poller.wait(for: .readable)
        try await turns.wait { !$0.isEmpty }
        #expect(turns.elements.first?.events == [.readable, .hangup])
        poller.stop()
    }

    @Test func aPollerThatIsStoppedLetsGoOfTheSocket() async throws {
        let poller = try makePoller()
        poller.wait(for: .readable)
        poller.stop()
        poller.stop()
        let end = try #require(ours.release())
        close(end)
        #expect(await theirEnd())
    }

    /// Whether the other end of the socket is closed, now or soon.
    private func theirEnd() async -> Bool {
        let descriptor = theirs.rawValue
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var state = pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0)
                continuation.resume(returning: poll(&state, 1, 20_000) == 1 && state.revents & CShort(POLLHUP) != 0)
            }
        }
    }

    // MARK: Inline work

    /// Work that ends on request, and records the thread that runs it.
    private struct InlineWork: Sendable {
        let threads = Recorder<pthread_t>()
        let mayEnd = DispatchSemaphore(value: 0)

        func callAsFunction() {
            threads.append(pthread_self())
            mayEnd.wait()
        }
    }

    @Test func whatAnEventLeadsToIsRunByTheThreadThatPollsOffTheQueue() async throws {
        let workThreads = Recorder<pthread_t>()
        let poller = try makePoller { [queue] in
            dispatchPrecondition(condition: .notOnQueue(queue))
            workThreads.append(pthread_self())
        }
        poller.wait(for: .readable)
        // Until the second thread is ready.
        while workThreads.elements.isEmpty {
            let before = turns.elements.count
            write(50)
            try await turns.wait { $0.count == before + 50 }
        }
        #expect(Set(workThreads.elements) == Set(turns.elements.map(\.thread)))
        poller.stop()
    }

    /// A trap in a callback must have its backtrace, as on Dispatch's threads.
    @Test func faultsAreReportedToTheThreadAndOtherSignalsAreNot() async throws {
        let masks = Recorder<Set<CInt>>()
        let poller = try SocketPoller(socket: ours.rawValue, queue: queue) { _, _ in
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            masks.append(
                Set([SIGILL, SIGTRAP, SIGSEGV, SIGTERM, SIGINT, SIGCHLD].filter { sigismember(&mask, $0) == 1 }))
            return nil
        }
        poller.wait(for: .writable)
        try await masks.wait { !$0.isEmpty }
        poller.stop()
        #expect(masks.elements.first == [SIGTERM, SIGINT, SIGCHLD])
    }

    @Test func inlineWorkThatDoesNotReturnDelaysNoEvent() async throws {
        let work = InlineWork()
        let poller = try makePoller { work() }
        poller.wait(for: .readable)
        let first = try await held(work)
        // The work blocks, and the other thread reports further events.
        let before = turns.elements.count
        write(50)
        let turns = try await turns.wait { $0.count >= before + 50 }
        #expect(!turns.dropFirst(before).contains { $0.thread == first })
        // The first thread runs the watchdog again, so inline work is allowed again, and the second thread runs it.
        work.mayEnd.signal()
        let second = try await held(work)
        #expect(second != first)
        work.mayEnd.signal()
        poller.stop()
    }

    /// Writes until inline work has begun.
    private func held(_ work: InlineWork) async throws -> pthread_t {
        let before = work.threads.elements.count
        while work.threads.elements.count == before {
            let count = turns.elements.count
            write(2)
            try await turns.wait { $0.count > count }
        }
        return work.threads.elements[before]
    }

    @Test func aPollerThatIsStoppedDuringInlineWorkClosesTheSocket() async throws {
        let work = InlineWork()
        let poller = try makePoller { work() }
        poller.wait(for: .readable)
        _ = try await held(work)
        poller.stop()
        let end = try #require(ours.release())
        close(end)
        #expect(await theirEnd())
        work.mayEnd.signal()
    }
}
#endif
