#if os(Linux)
import Glibc
import Testing

@testable import BlueZ

@Suite struct PacketSocketTests {
    /// Returns two ends that preserve packet boundaries.
    private func ends(_ type: __socket_type) throws -> (own: CInt, others: CInt) {
        var ends: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, CInt(type.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    private func read(_ socket: CInt) -> PacketSocket.Reading {
        var buffer = [UInt8](repeating: 0, count: 16)
        return buffer.withUnsafeMutableBytes { PacketSocket.read(socket, into: $0) }
    }

    @Test func anOpenSocketMayHaveNothingYet() throws {
        let (own, others) = try ends(SOCK_SEQPACKET)
        #expect(read(own) == .nothing)
        close(own)
        close(others)
    }

    @Test func whatWasSentBeforeTheEndIsRead() throws {
        let (own, others) = try ends(SOCK_SEQPACKET)
        #expect(send(others, [1, 2], 2, 0) == 2)
        close(others)
        #expect(read(own) == .packet(count: 2))
        #expect(read(own) == .end)
        close(own)
    }

    /// Like an L2CAP socket whose link is gone: it has nothing to read, not even an end, and has hung up.
    @Test func aSocketThatHasHungUpIsAtItsEndThoughReadingSaysTryAgain() throws {
        let (own, others) = try ends(SOCK_DGRAM)
        #expect(send(others, [1, 2, 3], 3, 0) == 3)
        #expect(shutdown(own, CInt(SHUT_RDWR)) == 0)
        #expect(read(own) == .packet(count: 3))
        var byte: UInt8 = 0
        let count = recv(own, &byte, 1, CInt(MSG_DONTWAIT))
        let reason = errno
        #expect(count == -1 && reason == EAGAIN)
        #expect(read(own) == .end)
        close(own)
        close(others)
    }
}
#endif
