#if os(Linux)
import BluetoothDBus
import BluetoothSupport
import Glibc

/// A program that this process starts, and whose exit status it collects.
package final class SpawnedProcess: Sendable {
    /// The error of a program that cannot be started.
    package struct SpawnError: Error, CustomStringConvertible {
        /// The `errno` of `posix_spawnp(3)`.
        package let code: Int32
        package var description: String { String(cString: strerror(code)) }
    }

    private let identifier: pid_t
    private let status = Lock<Int32?>(nil)

    /// Starts a program, which is searched for in `PATH` if its name contains no slash.
    ///
    /// No signal is blocked in it.
    ///
    /// - Parameters:
    ///   - environment: The whole environment.
    ///   - streams: The descriptors of standard input, output and errors, each nil for `/dev/null`; empty inherits this
    ///     process's.
    ///   - isDetached: Whether the program has a separate session, so that it receives no signal of the terminal, the
    ///     default action for each signal, and no further descriptor.
    ///   - defaultSignals: The signals that have their default action in the program even if this process ignores them.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String], streams: [Int32?] = [],
        isDetached: Bool = false, defaultSignals: [Int32] = []
    ) throws(SpawnError) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in streams.enumerated() {
            if let stream {
                posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
            }
        }
        if isDetached { SpawnExtensions.closeDescriptors(from: 3, &actions) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        Self.setSignals(isDetached: isDetached, defaultSignals, &attributes)
        let words = ([program] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var identifier = pid_t()
        let code = posix_spawnp(&identifier, program, &actions, &attributes, words, variables)
        guard code == 0 else { throw SpawnError(code: code) }
        self.identifier = identifier
    }

    /// Sends the program a signal, unless it has ended.
    package func signal(_ number: Int32) {
        status.withLock { if $0 == nil { kill(identifier, number) } }
    }

    /// Blocks until the program has ended.
    ///
    /// - Returns: The exit status; 128 plus the signal's number if a signal ended the program.
    package func wait() -> Int32 {
        // Until the status is collected, no other process has the number, and a signal may still be sent.
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return status.withLock { status in
            if let status { return status }
            var word: Int32 = 0
            while waitpid(identifier, &word, 0) < 0, errno == EINTR {}
            let result = word & 0x7F == 0 ? (word >> 8) & 0xFF : 128 + word & 0x7F
            status = result
            return result
        }
    }

    // MARK: Attributes

    private static func setSignals(
        isDetached: Bool, _ defaultSignals: [Int32], _ attributes: inout posix_spawnattr_t
    ) {
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        if isDetached { sigfillset(&signals) }
        for number in defaultSignals { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let session = isDetached ? SpawnExtensions.ownSession : 0
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | session
        posix_spawnattr_setflags(&attributes, Int16(flags))
    }
}

/// Two connected sockets that no other program inherits; `pipe2(2)` is declared only under `_GNU_SOURCE`.
enum StreamPair {
    /// One of the two sockets.
    final class End: Sendable {
        let descriptor: Int32
        private let isOpen = Lock(true)

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { close() }

        func close() {
            isOpen.withLock { isOpen in
                if isOpen { Glibc.close(descriptor) }
                isOpen = false
            }
        }

        /// The bytes that have arrived, empty at the end of the stream; nil if no byte arrives before `limit`.
        func read(until limit: ContinuousClock.Instant) -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let (seconds, attoseconds) = max(.zero, limit - .now).components
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                let count = poll(&entry, 1, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000))
                if count == 0 { return nil }
                if count < 0, errno == EINTR { continue }
                let length = Glibc.read(descriptor, &buffer, buffer.count)
                if length < 0, errno == EINTR { continue }
                return Array(buffer.prefix(max(0, length)))
            }
        }
    }

    static func make() throws(PrivateMessageBusError) -> (End, End) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .notStarted(String(cString: strerror(errno))) }
        return (End(ends[0]), End(ends[1]))
    }
}
#endif
