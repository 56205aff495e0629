#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file, a pipe or a device that a program reads from its beginning to its end.
///
/// Foundation first determines a file's size, which fails for `/dev/stdin` and for the pipe that a shell creates for
/// `<(…)`.
///
/// Not thread-safe. Reading blocks while a pipe is empty.
package final class InputFile {
    /// The file's name, as given.
    package let name: String
    private let descriptor: CInt

    /// Opens a file; for a named pipe, waits until a program writes to it, unless the flags contain `O_NONBLOCK`.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - flags: Flags of `open(2)`, in addition to `O_RDONLY` and `O_CLOEXEC`.
    /// - Throws: ``InputFileError`` with the system's reason.
    package init(_ name: String, flags: CInt = 0) throws(InputFileError) {
        self.name = name
        var opened = open(name, O_RDONLY | O_CLOEXEC | flags)
        while opened < 0, errno == EINTR { opened = open(name, O_RDONLY | O_CLOEXEC | flags) }
        descriptor = opened
        let code = errno
        if opened < 0 { throw InputFileError(reason: String(cString: strerror(code)), isMissing: code == ENOENT) }
    }

    deinit { _ = close(descriptor) }

    /// Whether it is a regular file that the user of this process owns.
    package var isRegularFileOfUser: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid()
    }

    /// Returns the next bytes, at most `count`; empty at the end.
    ///
    /// - Throws: ``InputFileError`` for a folder, or if the disk fails.
    package func read(upTo count: Int) throws(InputFileError) -> [UInt8] {
        let descriptor = descriptor
        var failure: CInt = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            var result = systemRead(descriptor, buffer)
            while result < 0, errno == EINTR { result = systemRead(descriptor, buffer) }
            if result < 0 { failure = errno }
            length = max(0, result)
        }
        if failure != 0 { throw InputFileError(reason: String(cString: strerror(failure))) }
        return bytes
    }

    /// Whether a read would not block, because bytes or the end are available.
    package var isReadable: Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return systemPoll(&poll) != 0
    }

    /// Returns all bytes of a file.
    ///
    /// - Parameter limit: The largest allowed size, because a pipe may never end.
    /// - Throws: ``InputFileError`` if the file cannot be read, or is too long.
    package static func contents(of name: String, atMost limit: Int) throws(InputFileError) -> [UInt8] {
        try InputFile(name).contents(atMost: limit)
    }

    /// Returns all bytes that have not been read yet.
    ///
    /// - Parameter limit: The largest allowed number of them.
    /// - Throws: ``InputFileError`` if they cannot be read, or are too many.
    package func contents(atMost limit: Int) throws(InputFileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while case let piece = try read(upTo: 65_536), !piece.isEmpty {
            guard bytes.count + piece.count <= limit else {
                throw InputFileError(reason: "It has more than \(limit) bytes", isTooLarge: true)
            }
            bytes += piece
        }
        return bytes
    }

    /// Returns the text of a file, without its byte order mark.
    ///
    /// - Throws: ``InputFileError`` if the file cannot be read, is too long, or is not UTF-8.
    package static func text(of name: String, atMost limit: Int) throws(InputFileError) -> String {
        let bytes = try contents(of: name, atMost: limit)
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        guard let text = String(validating: bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0), as: UTF8.self)
        else { throw InputFileError(reason: "The text is not UTF-8") }
        return text
    }
}

/// The reason why a file cannot be read, in the system's words: "No such file or directory".
package struct InputFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package let reason: String
    package var isMissing = false
    package var isTooLarge = false

    /// The reason.
    package var description: String { reason }
}

private func systemPoll(_ descriptor: inout pollfd) -> CInt { poll(&descriptor, 1, 0) }

private func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
