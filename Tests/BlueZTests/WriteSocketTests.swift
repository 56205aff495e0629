#if os(Linux)
import BluetoothDBus
import Dispatch
import FoundationEssentials
import Glibc
import ScriptedBlueZ
import Testing

@testable import BlueZ

@Suite struct WriteSocketTests {
    private let queue = DispatchQueue(label: "WriteSocketTests")
    private let events = Recorder<WriteSocket.Event>()
    private let daemon: CInt
    private let socket: WriteSocket

    init() throws {
        let (own, daemonsEnd) = try DBusFileDescriptor.packetSockets()
        daemon = try #require(daemonsEnd.release())
        // No test waits that long, so every report has another reason.
        socket = try queue.sync { [queue, events] in
            try WriteSocket(adopting: own, queue: queue, reportDelay: .seconds(3600)) { events.append($0) }
        }
    }

    private func sent(_ events: [WriteSocket.Event]) -> Int {
        events.reduce(0) { if case .sent(let count) = $1 { $0 + count } else { $0 } }
    }

    private func send(_ values: [Data]) {
        queue.async { [socket] in for value in values { socket.send(value) } }
    }

    @Test func eachValueIsAPacket() async throws {
        send([Data([1, 2]), Data([3])])
        queue.sync {}
        #expect(PeerEnd.receive(daemon) == [1, 2])
        #expect(PeerEnd.receive(daemon) == [3])
        close(daemon)
    }

    @Test func whatWasHandedOverIsReportedTogether() async throws {
        let values = (0..<WriteSocket.reportSize * 2 + 1).map { Data([UInt8($0)]) }
        send(values)
        queue.sync {}
        #expect(events.elements == [.sent(WriteSocket.reportSize), .sent(WriteSocket.reportSize)])
        close(daemon)
        // The rest is reported before the end.
        try await events.first { $0 == .closed }
        #expect(events.elements.dropFirst(2) == [.sent(1), .closed])
    }

    @Test func S86_theEndOfABurstIsReportedWithoutMorePackets() async throws {
        let (own, daemonsEnd) = try DBusFileDescriptor.packetSockets()
        let prompt = try queue.sync {
            try WriteSocket(adopting: own, queue: queue, reportDelay: .zero) { [events] in events.append($0) }
        }
        queue.async { prompt.send(Data([1])) }
        try await events.first { $0 == .sent(1) }
        withExtendedLifetime(daemonsEnd) {}
        close(daemon)
    }

    @Test func itIsDrainedOnceTheDaemonHasReadAll() async throws {
        send([Data([1])])
        queue.async { [socket] in socket.drain() }
        queue.sync {}
        #expect(events.elements.isEmpty)
        #expect(PeerEnd.receive(daemon) == [1])
        try await events.first { $0 == .drained }
        #expect(events.elements == [.sent(1), .drained])
        close(daemon)
    }

    @Test func nothingIsLostWhenTheDaemonIsSlow() async throws {
        let values = (0..<2000).map { Data([UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]) }
        send(values)
        let daemon = daemon
        let total = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: PeerEnd.receive(daemon, atLeast: 4000)) }
        }
        #expect(total == 4000)
        // The last packets may be too few for a report; a drain reports them.
        queue.async { [socket] in socket.drain() }
        try await events.first { $0 == .drained }
        #expect(sent(events.elements) == 2000)
        close(daemon)
    }

    @Test func theDaemonsEndIsReportedOnce() async throws {
        close(daemon)
        try await events.first { $0 == .closed }
        send([Data([1])])
        queue.sync {}
        #expect(events.elements == [.closed])
    }
}
#endif
