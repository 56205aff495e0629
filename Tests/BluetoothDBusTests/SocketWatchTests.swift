#if os(Linux)
import BluetoothDBus
import BluetoothSupport
import Dispatch
import Glibc
import ScriptedBlueZ
import Testing

@Suite struct SocketWatchTests {
    private enum Report: Equatable, Sendable {
        case readable, writable
    }

    /// A watched socket, and its peer.
    private final class Pair: Sendable {
        let queue = DispatchQueue(label: "SocketWatchTests")
        let reports = Recorder<Report>()
        let peer: DBusFileDescriptor
        let watch: SocketWatch

        init() throws {
            let (socket, peer) = try DBusFileDescriptor.packetSockets()
            self.peer = peer
            watch = try queue.sync { [queue, reports] in
                try SocketWatch(adopting: socket, queue: queue) {
                    reports.append(.readable)
                } writable: {
                    reports.append(.writable)
                }
            }
        }

        func send() { _ = write(peer.rawValue, "a", 1) }

        func hangUp() { if let open = peer.release() { close(open) } }

        /// Returns when Dispatch has handled what it knew of this socket: its one thread for events has since handled
        /// another socket, and the queue has run.
        func settle() async throws {
            let other = try Pair()
            other.queue.sync { other.watch.isWriting = true }
            try await other.reports.first { $0 == .writable }
            other.queue.sync { other.watch.cancel() }
            queue.sync {}
        }
    }

    @Test func itReportsAPacketToWhoReads() async throws {
        let pair = try Pair()
        pair.queue.sync { pair.watch.isReading = true }
        try await pair.settle()
        #expect(pair.reports.elements.isEmpty)
        pair.send()
        try await pair.reports.first { $0 == .readable }
        pair.queue.sync { pair.watch.cancel() }
    }

    @Test func aPacketThatIsNotReadIsReportedAgain() async throws {
        let pair = try Pair()
        pair.send()
        pair.queue.sync { pair.watch.isReading = true }
        try await pair.reports.wait { $0.count >= 3 }
        pair.queue.sync { pair.watch.cancel() }
    }

    @Test func nothingIsReportedToWhoNeitherReadsNorWrites() async throws {
        let pair = try Pair()
        pair.send()
        pair.hangUp()
        try await pair.settle()
        #expect(pair.reports.elements.isEmpty)
    }

    @Test func aHangupIsReportedOnceToWhoReadsAndOnceToWhoWritesLater() async throws {
        let pair = try Pair()
        pair.queue.sync { pair.watch.isReading = true }
        pair.hangUp()
        try await pair.reports.first { $0 == .readable }
        try await pair.settle()
        #expect(pair.reports.elements == [.readable])
        pair.queue.sync {
            pair.watch.isReading = false
            pair.watch.isWriting = true
        }
        try await pair.reports.first { $0 == .writable }
        try await pair.settle()
        #expect(pair.reports.elements == [.readable, .writable])
        pair.queue.sync { pair.watch.cancel() }
    }

    @Test func anErrorIsReportedToWhoReadsLater() async throws {
        let socket = DBusFileDescriptor(adopting: Glibc.socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(9).bigEndian
        let isConnected = withUnsafeBytes(of: address) { bytes in
            connect(
                socket.rawValue, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count)) == 0
        }
        try #require(isConnected)
        let queue = DispatchQueue(label: "SocketWatchTests")
        let errors = Recorder<CInt>()
        let watch = try queue.sync {
            try SocketWatch(adopting: socket, queue: queue) {
                var byte: UInt8 = 0
                errors.append(recv(socket.rawValue, &byte, 1, CInt(MSG_DONTWAIT)) < 0 ? errno : 0)
            }
        }
        // The machine itself answers that nothing listens on that port.
        _ = Glibc.send(socket.rawValue, "a", 1, 0)
        try await Pair().settle()
        #expect(errors.elements.isEmpty)
        queue.sync { watch.isReading = true }
        try await errors.first { $0 == ECONNREFUSED }
        queue.sync { watch.cancel() }
    }

    @Test func aCancelledWatchReportsNothing() async throws {
        let pair = try Pair()
        pair.queue.sync { pair.watch.isReading = true }
        pair.queue.sync { pair.watch.cancel() }
        pair.send()
        try await pair.settle()
        #expect(pair.reports.elements.isEmpty)
    }

    /// Dispatch sometimes crashes if it waits for such sockets itself.
    @Test func peersThatHangUpWhileOtherSocketsComeAndGo() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<500 {
                        let pair = try Pair()
                        pair.queue.sync { pair.watch.isReading = true }
                        pair.hangUp()
                        try await pair.reports.first { $0 == .readable }
                        pair.queue.sync { pair.watch.cancel() }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
#endif
