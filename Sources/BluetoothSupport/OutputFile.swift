#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file or a pipe that a program writes and no one else, or its standard error.
///
/// Not thread-safe: its owner calls it under a lock.
// Invariant: `length` is touched under the owner's lock alone.
package final class OutputFile: @unchecked Sendable {
    /// How long a reader of a pipe may read nothing, in milliseconds.
    private static let readerTimeout: CInt = 5_000

    /// The file's name, as it was given.
    package let name: String
    private let descriptor: CInt
    /// The bytes of whole writes; nil where nothing may be cut off.
    private var length: Int?

    /// Creates a file, which only the user may read, or opens a pipe that a program reads, a terminal or another device.
    ///
    /// An older file of that name is removed: the new one has neither its owner, nor its mode, nor its readers. A symbolic link to a
    /// file is refused, and so is a pipe of another user.
    ///
    /// - Throws: ``OutputFileError`` if it cannot be opened.
    package init(_ name: String) throws(OutputFileError) {
        self.name = name
        length = 0
        var status = stat()
        let kind = lstat(name, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
        descriptor = kind == S_IFREG ? Self.createFile(name) : try Self.openDevice(name, isLink: kind == S_IFLNK)
        if descriptor < 0 { throw OutputFileError(file: name, reason: String(cString: strerror(errno))) }
    }

    /// - Returns: A descriptor; less than 0 and `errno` where there is none.
    private static func createFile(_ name: String) -> CInt {
        guard unlink(name) == 0 || errno == ENOENT else { return -1 }
        // What another program has put there since is not taken.
        return open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    }

    /// Opens what is there and is no file; a link, as `/dev/stdout` is one, may lead to it.
    private static func openDevice(_ name: String, isLink: Bool) throws(OutputFileError) -> CInt {
        // A pipe without a reader is refused at once instead of waiting for one.
        let descriptor = open(name, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (isLink ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else {
            let reason = errno == ENXIO ? "no program reads this pipe" : String(cString: strerror(errno))
            throw OutputFileError(file: name, reason: reason)
        }
        var status = stat()
        let refusal: String? =
            switch fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG {
            case S_IFREG: "a symbolic link to a file is not followed"
            case S_IFIFO where !isLink && status.st_uid != geteuid(): "the pipe belongs to another user"
            default: nil
            }
        guard let refusal else { return descriptor }
        close(descriptor)
        throw OutputFileError(file: name, reason: refusal)
    }

    /// The standard error of this process.
    ///
    /// - Throws: ``OutputFileError`` if it is closed.
    package init(standardErrorNamed name: String) throws(OutputFileError) {
        self.name = name
        descriptor = duplicate(STDERR_FILENO)
        if descriptor < 0 { throw OutputFileError(file: name, reason: String(cString: strerror(errno))) }
    }

    deinit { _ = close(descriptor) }

    /// Writes a whole file or none: an interrupted program leaves an older file as it was.
    ///
    /// - Throws: ``OutputFileError`` if it cannot be written.
    package static func replace(_ name: String, with bytes: [UInt8]) throws(OutputFileError) {
        let partial = name + ".partial"
        try OutputFile(partial).write(bytes)
        guard rename(partial, name) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(partial)
            throw OutputFileError(file: name, reason: reason)
        }
    }

    /// The name of one of several files: from the second on, with its number before the extension, as in `air-2.pcapng`.
    package static func name(_ file: String, number: Int) -> String {
        guard number > 1 else { return file }
        let folder = file.lastIndex(of: "/").map { file.index(after: $0) } ?? file.startIndex
        guard let dot = file[folder...].lastIndex(of: "."), dot > folder else { return "\(file)-\(number)" }
        return "\(file[..<dot])-\(number)\(file[dot...])"
    }

    /// Writes all bytes, or leaves a file as it was before.
    ///
    /// - Throws: ``OutputFileError`` if the disk is full, or if no program reads the pipe for five seconds.
    package func write(_ bytes: [UInt8]) throws(OutputFileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = withoutBrokenPipeSignal { rest.withUnsafeBytes { systemWrite(descriptor, $0) } }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                try waitUntilWritable()
            } else if errno != EINTR {
                let reason = String(cString: strerror(errno))
                // Of a pipe nothing can be cut off.
                if let length { _ = ftruncate(descriptor, off_t(length)) }
                throw OutputFileError(file: name, reason: reason)
            }
        }
        length = length.map { $0 + bytes.count }
    }

    private func waitUntilWritable() throws(OutputFileError) {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if systemPoll(&poll, Self.readerTimeout) == 0 {
            throw OutputFileError(file: name, reason: "the program at the other end of the pipe reads nothing")
        }
    }
}

/// A file that cannot be written.
package struct OutputFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package let file: String
    package let reason: String

    /// The file and the reason.
    package var description: String { "\(file): \(reason)" }
}

private func duplicate(_ descriptor: CInt) -> CInt { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }

private func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}

private func systemPoll(_ descriptor: inout pollfd, _ milliseconds: CInt) -> CInt { poll(&descriptor, 1, milliseconds) }

/// Calls `body`, in which a write to a pipe without a reader fails instead of ending the program.
private func withoutBrokenPipeSignal<Result>(_ body: () -> Result) -> Result {
    var (blocked, previous, pending) = (sigset_t(), sigset_t(), sigset_t())
    sigemptyset(&blocked)
    sigaddset(&blocked, SIGPIPE)
    sigpending(&pending)
    let wasPending = sigismember(&pending, SIGPIPE) == 1
    pthread_sigmask(SIG_BLOCK, &blocked, &previous)
    let result = body()
    let error = errno
    sigpending(&pending)
    if !wasPending, sigismember(&pending, SIGPIPE) == 1 {
        var signal: CInt = 0
        sigwait(&blocked, &signal)
    }
    pthread_sigmask(SIG_SETMASK, &previous, nil)
    errno = error
    return result
}
