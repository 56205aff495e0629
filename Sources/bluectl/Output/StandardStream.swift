#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An open file descriptor to write lines to.
enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Whether a terminal reads it.
    var isTerminal: Bool { isatty(rawValue) == 1 }

    /// The terminal's columns and rows; nil where it does not tell.
    var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Writes all of `text`; waits where the reader is slow.
    ///
    /// - Returns: 0, or the `errno` that ended it; `EPIPE` where nobody reads any more.
    func write(_ text: String) -> Int32 {
        var text = text
        return text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    }

    /// As `write(_:)` of text, of bytes.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        var rest = bytes
        while let base = rest.baseAddress, !rest.isEmpty {
            let count = systemWrite(rawValue, base, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            } else if errno == EAGAIN {
                var poll = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                _ = systemPoll(&poll, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}

private func systemWrite(_ descriptor: Int32, _ base: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, base, count)
}

private func systemPoll(_ descriptors: UnsafeMutablePointer<pollfd>, _ count: UInt, _ timeout: Int32) -> Int32 {
    poll(descriptors, nfds_t(count), timeout)
}
