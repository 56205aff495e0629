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

    /// A poller that reads what comes, a byte for each turn.
    private func makePoller() throws -> SocketPoller {
        try SocketPoller(socket: ours.rawValue, queue: queue) { [ours, turns, queue] events in
            dispatchPrecondition(condition: .onQueue(queue))
            var byte: UInt8 = 0
            if events.contains(.readable) { _ = recv(ours.rawValue, &byte, 1, 0) }
            turns.append(Turn(events: events, thread: pthread_self()))
        }
    }

    private func write() {
        var byte: UInt8 = 1
        #expect(send(theirs.rawValue, &byte, 1, 0) == 1)
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
        let descriptor = theirs.rawValue
        let isOver = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var state = pollfd(fd: descriptor, events: CShort(POLLIN), revents: 0)
                continuation.resume(returning: poll(&state, 1, 20_000) == 1 && state.revents & CShort(POLLHUP) != 0)
            }
        }
        #expect(isOver)
    }
}
#endif
