#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import Dispatch
import FoundationEssentials
import Glibc
import ScriptedBlueZ
import Testing

@testable import BlueZ

@Suite struct NotificationSocketsTests {
    /// An event and its socket.
    struct Entry: Equatable, Sendable {
        let socket: UInt64
        let event: NotificationSockets.Event
    }

    private let daemon = BlueZDaemon(address: .explicit("unix:path=/nonexistent"), timings: BlueZTimings())
    private let entries = Recorder<Entry>()
    private let sockets: NotificationSockets
    private let peer = PeerID(UUID())

    init() {
        sockets = NotificationSockets(daemon: daemon) { [entries] in
            entries.append(Entry(socket: $0.number, event: $1))
        }
    }

    /// Adds a socket, and returns the daemon's end.
    private func open(_ number: UInt64) throws -> CInt {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        perform(.adopt(ends[0]), on: number)
        return ends[1]
    }

    private func perform(_ action: NotificationSockets.Action, on number: UInt64) {
        daemon.queue.sync { sockets.perform(action, on: LinkSocketID(number: number, peer: peer)) }
    }

    private func send(_ value: [UInt8], over socket: CInt) { #expect(write(socket, value, value.count) == value.count) }

    private func values(of number: UInt64) -> [Data] { Self.values(of: number, entries.elements) }

    private static func values(of number: UInt64, _ entries: [Entry]) -> [Data] {
        entries.flatMap { entry -> [Data] in
            if entry.socket == number, case .values(let values) = entry.event { values } else { [] }
        }
    }

    private func waitForEnd(of number: UInt64) async throws {
        try await entries.first { $0 == Entry(socket: number, event: .closed) }
    }

    @Test func eachPacketIsAValueInOrderAndAnEmptyOneToo() async throws {
        let end = try open(1)
        for value: [UInt8] in [[1, 2], [], [3]] { send(value, over: end) }
        try await entries.wait { Self.values(of: 1, $0).count == 3 }
        #expect(values(of: 1) == [Data([1, 2]), Data(), Data([3])])
        close(end)
        try await waitForEnd(of: 1)
    }

    @Test func theLongestValueIsWhole() async throws {
        let end = try open(1)
        send([UInt8](repeating: 7, count: 512), over: end)
        try await entries.wait { Self.values(of: 1, $0) == [Data(repeating: 7, count: 512)] }
        close(end)
    }

    @Test func aSocketThatEndsLeavesTheOthersOpen() async throws {
        let (first, second) = (try open(1), try open(2))
        send([1], over: first)
        close(first)
        try await waitForEnd(of: 1)
        #expect(values(of: 1) == [Data([1])])
        send([2], over: second)
        try await entries.wait { Self.values(of: 2, $0) == [Data([2])] }
        #expect(!entries.elements.contains(Entry(socket: 2, event: .closed)))
        close(second)
    }

    @Test func finishingReadsWhatIsThereAndReportsTheEndAtOnce() throws {
        let end = try open(1)
        let count = NotificationSockets.valuesPerTurn + 5
        daemon.queue.sync {
            for byte in 0..<count { send([UInt8(byte)], over: end) }
            sockets.perform(.finish, on: LinkSocketID(number: 1, peer: peer))
        }
        #expect(values(of: 1).map { $0.first } == (0..<count).map { UInt8($0) })
        #expect(entries.elements.last == Entry(socket: 1, event: .closed))
        close(end)
    }

    @Test func nothingFollowsClosing() throws {
        let end = try open(1)
        daemon.queue.sync {
            send([1], over: end)
            sockets.perform(.close, on: LinkSocketID(number: 1, peer: peer))
        }
        // The daemon notices the end.
        var state = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        #expect(poll(&state, 1, 10_000) == 1 && state.revents & Int16(POLLHUP) != 0)
        daemon.queue.sync {}
        #expect(entries.elements.isEmpty)
        close(end)
    }
}
#endif
