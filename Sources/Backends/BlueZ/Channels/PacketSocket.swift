#if os(Linux)
import Glibc

/// Single reads and writes of a socket that preserves packet boundaries.
enum PacketSocket {
    /// The result of a read.
    enum Reading: Equatable {
        case packet(count: Int)
        /// No packet has arrived yet.
        case nothing
        /// The other side has hung up, and everything that it sent was read.
        case end
    }

    /// The result of a write.
    enum Writing: Equatable {
        case written
        /// The buffer is full now.
        case full
        /// The other end is closed.
        case broken
    }

    private static let dontWait = CInt(MSG_DONTWAIT)
    private static let noSignal = CInt(MSG_NOSIGNAL)
    /// `POLLRDHUP` of Linux, which Glibc's module does not export.
    private static let peerHungUp: Int16 = 0x2000

    /// Reads one packet.
    ///
    /// A packet may be empty: a socket is at its end only if the other side has hung up.
    ///
    /// BlueZ pitfall: an empty notification looks like the end (https://github.com/hbldh/bleak/issues/1982).
    ///
    /// - Parameter endsInSilence: Whether a socket that has hung up may report nothing instead of its end, as L2CAP
    ///   sockets do and Unix sockets do not.
    static func read(
        _ socket: CInt, into buffer: UnsafeMutableRawBufferPointer, endsInSilence: Bool = true
    ) -> Reading {
        var hasFailed = false
        while true {
            let count = recv(socket, buffer.baseAddress, buffer.count, dontWait)
            if count > 0 { return .packet(count: count) }
            if count == 0 { return hasHungUp(socket) ? .end : .packet(count: 0) }
            switch errno {
            case EINTR: continue
            // An L2CAP socket whose link is gone reports an error once, and then hangs up without a readable end.
            case EAGAIN: return endsInSilence && hasHungUp(socket) ? .end : .nothing
            default:
                // The kernel reports an error once, before the packets that were received earlier.
                if hasFailed { return .end }
                hasFailed = true
            }
        }
    }

    /// Writes one packet.
    static func write(_ socket: CInt, _ bytes: UnsafeRawBufferPointer) -> Writing {
        while true {
            let count = send(socket, bytes.baseAddress, bytes.count, dontWait | noSignal)
            if count >= 0 { return .written }
            switch errno {
            case EINTR: continue
            case EAGAIN, ENOBUFS: return .full
            default: return .broken
            }
        }
    }

    /// Whether a read without bytes was the end.
    private static func hasHungUp(_ socket: CInt) -> Bool {
        var state = pollfd(fd: socket, events: Int16(POLLIN) | peerHungUp, revents: 0)
        guard poll(&state, 1, 0) > 0, state.revents & (Int16(POLLHUP | POLLERR) | peerHungUp) != 0 else { return false }
        // A packet behind it shows that it was an empty packet.
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, dontWait | CInt(MSG_PEEK)) <= 0
    }
}
#endif
