#if os(Linux)
import Dispatch
import Glibc
import ScriptedBlueZ
import Testing

@testable import BluetoothDBus

@Suite struct SocketPollerTests {
    private typealias Events = SocketPoller.Events

    /// What is told, and by which thread.
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

    /// A poller that reads what comes, a byte for each turn, and runs an errand where it may.
    private func makePoller(errand: SocketPoller.Errand? = nil) throws -> SocketPoller {
        try SocketPoller(socket: ours.rawValue, queue: queue) { [ours, turns, queue] events, mayGiveErrand in
            dispatchPrecondition(condition: .onQueue(queue))
            var byte: UInt8 = 0
            if events.contains(.readable) { _ = recv(ours.rawValue, &byte, 1, 0) }
            turns.append(Turn(events: events, thread: pthread_self()))
            return mayGiveErrand ? errand : nil
        }
    }

    private func write(_ count: Int = 1) {
        let bytes = [UInt8](repeating: 1, count: count)
        #expect(send(theirs.rawValue, bytes, count, 0) == count)
    }

    @Test func whatCanBeReadIsToldOnTheIdleQueueByOneThread() async throws {
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
        // It waits again by now, or is about to.
        poller.wait(for: .writable)
        try await turns.first { $0.events == .writable }
        poller.wait(for: [])
        poller.stop()
    }

    @Test func whereNothingIsWishedForNotEvenTheEndIsTold() async throws {
        let poller = try makePoller()
        let end = try #require(theirs.take())
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
        let end = try #require(ours.take())
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

    // MARK: Errands

    /// An errand that ends when it is told to, and says by which thread it is run.
    private struct Errand: Sendable {
        let threads = Recorder<pthread_t>()
        let mayEnd = DispatchSemaphore(value: 0)

        func callAsFunction() {
            threads.append(pthread_self())
            mayEnd.wait()
        }
    }

    @Test func whatDenseEventsLeadToIsRunByTheThreadThatPollsOffTheQueue() async throws {
        let errands = Recorder<pthread_t>()
        let poller = try makePoller { [queue] in
            dispatchPrecondition(condition: .notOnQueue(queue))
            errands.append(pthread_self())
        }
        poller.wait(for: .readable)
        // Until the second thread is there.
        while errands.elements.isEmpty {
            let before = turns.elements.count
            write(50)
            try await turns.wait { $0.count == before + 50 }
        }
        #expect(Set(errands.elements) == Set(turns.elements.map(\.thread)))
        poller.stop()
    }

    /// As on Dispatch's threads: a trap in a callback has its backtrace.
    @Test func faultsAreToldToTheThreadAndOtherSignalsAreNot() async throws {
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

    @Test func anErrandThatDoesNotEndHoldsUpNobody() async throws {
        let errand = Errand()
        let poller = try makePoller { errand() }
        poller.wait(for: .readable)
        let first = try await held(errand)
        // The errand stands, and what comes is told by the other thread.
        let before = turns.elements.count
        write(50)
        let turns = try await turns.wait { $0.count >= before + 50 }
        #expect(!turns.dropFirst(before).contains { $0.thread == first })
        // The first thread stands by again, and so there are errands again, which the second runs now.
        errand.mayEnd.signal()
        let second = try await held(errand)
        #expect(second != first)
        errand.mayEnd.signal()
        poller.stop()
    }

    /// Writes until an errand has begun.
    private func held(_ errand: Errand) async throws -> pthread_t {
        let before = errand.threads.elements.count
        while errand.threads.elements.count == before {
            let count = turns.elements.count
            write(2)
            try await turns.wait { $0.count > count }
        }
        return errand.threads.elements[before]
    }

    @Test func aPollerThatIsStoppedInMidErrandLetsGoOfTheSocket() async throws {
        let errand = Errand()
        let poller = try makePoller { errand() }
        poller.wait(for: .readable)
        _ = try await held(errand)
        poller.stop()
        let end = try #require(ours.take())
        close(end)
        #expect(await theirEnd())
        errand.mayEnd.signal()
    }
}
#endif
