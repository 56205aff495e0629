#if os(Linux)
import Glibc

/// One read or write of a socket that keeps the bounds of packets.
enum PacketSocket {
    /// What there was to read.
    enum Reading: Equatable {
        case packet(count: Int)
        /// Nothing yet.
        case nothing
        /// The other side has hung up, and all that it sent was read.
        case end
    }

    /// What became of a packet.
    enum Writing: Equatable {
        case written
        /// There is no room now.
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
    /// A packet without bytes is one, too: only a socket whose other side has hung up is at its end.
    ///
    /// BlueZ pitfall: an empty notification looks like the end (https://github.com/hbldh/bleak/issues/1982).
    ///
    /// - Parameter endsInSilence: Whether a read of a socket that has hung up may find nothing instead of the end, as with
    ///   L2CAP sockets, and not with those of this machine.
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
            // An L2CAP socket whose link is gone reports an error once, and hangs up without an end to read.
            case EAGAIN: return endsInSilence && hasHungUp(socket) ? .end : .nothing
            default:
                // The kernel reports an error once, before what was received until then.
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

    /// Whether a read of nothing was the end.
    private static func hasHungUp(_ socket: CInt) -> Bool {
        var state = pollfd(fd: socket, events: Int16(POLLIN) | peerHungUp, revents: 0)
        guard poll(&state, 1, 0) > 0, state.revents & (Int16(POLLHUP | POLLERR) | peerHungUp) != 0 else { return false }
        // It was an empty packet, if another one comes behind it.
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, dontWait | CInt(MSG_PEEK)) <= 0
    }
}
#endif
