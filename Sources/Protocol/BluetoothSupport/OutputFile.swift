#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file or a pipe that only this program writes, or its standard error.
///
/// Not thread-safe: its owner calls it under a lock.
// Invariant: `length` is used only under the owner's lock.
package final class OutputFile: @unchecked Sendable {
    /// The longest time, in milliseconds, in which the reader of a pipe may read nothing.
    private static let readerTimeout: CInt = 5_000

    /// The file's name, as given.
    package let name: String
    private let descriptor: CInt
    /// The number of bytes of complete writes; nil if the output cannot be truncated.
    private var length: Int?

    /// Creates a file, which only the user may read, or opens a pipe that a program reads, a terminal or another
    /// device.
    ///
    /// An existing file is removed: the new one has neither its owner, nor its mode, nor its readers. A symbolic link
    /// to a file is refused, and so is a pipe of another user.
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

    /// Creates a file in place of whatever has the name, also of a link or a pipe.
    private init(replacing name: String) throws(OutputFileError) {
        self.name = name
        length = 0
        descriptor = Self.createFile(name)
        if descriptor < 0 { throw OutputFileError(file: name, reason: String(cString: strerror(errno))) }
    }

    /// - Returns: A descriptor; negative on failure, with `errno` set.
    private static func createFile(_ name: String) -> CInt {
        guard unlink(name) == 0 || errno == ENOENT else { return -1 }
        // Fails if another program has created a file there since.
        return open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    }

    /// Opens an existing pipe or device; a link such as `/dev/stdout` may lead to it.
    private static func openDevice(_ name: String, isLink: Bool) throws(OutputFileError) -> CInt {
        // A pipe without a reader is refused immediately.
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

    /// Duplicates the standard error of this process.
    ///
    /// - Throws: ``OutputFileError`` if it is closed.
    package init(standardErrorNamed name: String) throws(OutputFileError) {
        self.name = name
        descriptor = duplicate(STDERR_FILENO)
        if descriptor < 0 { throw OutputFileError(file: name, reason: String(cString: strerror(errno))) }
    }

    deinit { _ = close(descriptor) }

    /// Writes a whole file or nothing: an interrupted program leaves the older file unchanged.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - bytes: The contents.
    ///   - partial: The file's name until it is complete; nil appends `.partial` to `name`.
    ///   - synchronize: Writes the file of a descriptor to the disk, as `fsync(2)` does, before the file gets its name.
    /// - Throws: ``OutputFileError`` if it cannot be written.
    package static func replace(
        _ name: String, with bytes: [UInt8], partial: String? = nil, synchronize: (CInt) -> CInt = { _ in 0 }
    ) throws(OutputFileError) {
        let partial = partial ?? name + ".partial"
        let file = try OutputFile(replacing: partial)
        do throws(OutputFileError) {
            try file.write(bytes)
            let isOnDisk = withExtendedLifetime(file) { synchronize(file.descriptor) == 0 }
            guard isOnDisk, rename(partial, name) == 0 else {
                throw OutputFileError(file: name, reason: String(cString: strerror(errno)))
            }
        } catch {
            unlink(partial)
            throw error
        }
    }

    /// Returns the name of one of several files: from the second on, with its number before the extension
    /// (`air-2.pcapng`).
    package static func name(_ file: String, number: Int) -> String {
        guard number > 1 else { return file }
        let folder = file.lastIndex(of: "/").map { file.index(after: $0) } ?? file.startIndex
        guard let dot = file[folder...].lastIndex(of: "."), dot > folder else { return "\(file)-\(number)" }
        return "\(file[..<dot])-\(number)\(file[dot...])"
    }

    /// Writes all bytes, or leaves a file unchanged.
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
                // A pipe cannot be truncated.
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

/// Calls `body` while writes to a pipe without a reader fail instead of ending the program.
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
