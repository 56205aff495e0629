#if os(Linux)
import BluetoothSupport
import CBluetoothKernel
public import Foundation
import Synchronization

/// A program that a test starts and waits for.
///
/// Replaces Foundation's `Process`: processes that two threads start at a time there inherit each other's pipes, so a
/// program may never see the end of its input, and its end may never be detected. Here a program gets its three streams
/// and nothing else, no signal is blocked in it, and none is ignored.
public final class ChildProcess: Sendable {
    /// The end of a program, and its output.
    public struct Outcome: Sendable {
        /// The exit status, as in ``ChildProcess/wait()``.
        public var status: Int32
        /// The standard output, as UTF-8.
        public var output: String
    }

    private enum State {
        case running
        case ended(status: Int32)
    }

    /// The identifier of the process.
    public let identifier: Int32
    private let state = Lock(State.running)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: The executable.
    ///   - arguments: The arguments after its name.
    ///   - environment: Its whole environment; nil for that of this process.
    ///   - input: Its standard input; nil for none. Stays open here.
    ///   - output: Its standard output; nil for none. Stays open here.
    ///   - errors: Its standard error; nil for none. Stays open here.
    /// - Throws: `POSIXError` if it cannot be started.
    public init(
        _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: FileHandle? = nil,
        output: FileHandle? = nil, errors: FileHandle? = nil
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in [input, output, errors].enumerated() {
            if let stream {
                posix_spawn_file_actions_adddup2(&actions, stream.fileDescriptor, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
            }
        }
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let settings = (environment ?? ProcessInfo.processInfo.environment).map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + settings { free(text) } }
        var identifier = pid_t()
        let error = posix_spawn(&identifier, path, &actions, &attributes, words, settings)
        if let code = POSIXErrorCode(rawValue: error) { throw POSIXError(code) }
        self.identifier = identifier
    }

    /// Sends the program a signal, while it runs.
    public func signal(_ number: Int32) {
        state.withLock { if case .running = $0 { kill(identifier, number) } }
    }

    /// Blocks until the program has ended.
    ///
    /// - Returns: Its exit status; 128 plus the signal's number if a signal ended it.
    public func wait() -> Int32 {
        // The process identifier is not reused until it is collected, so a signal may still be sent meanwhile.
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return state.withLock { state in
            if case .ended(let status) = state { return status }
            var word: Int32 = 0
            while waitpid(identifier, &word, 0) < 0, errno == EINTR {}
            let status = word & 0x7F == 0 ? (word >> 8) & 0xFF : 128 + word & 0x7F
            state = .ended(status: status)
            return status
        }
    }

    /// Returns the two ends of a pipe that no program inherits by chance.
    public static func pipe() throws -> (reading: FileHandle, writing: FileHandle) {
        var ends: [Int32] = [-1, -1]
        guard pipe2(&ends, O_CLOEXEC) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE) }
        return (
            FileHandle(fileDescriptor: ends[0], closeOnDealloc: true),
            FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        )
    }

    /// Runs a program to its end, on a separate thread; its errors are dropped.
    public static func run(
        _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil
    ) async throws -> Outcome {
        try await onThread {
            let (reading, writing) = try pipe()
            let child = try ChildProcess(path, arguments, environment: environment, output: writing)
            try writing.close()
            let bytes = reading.readDataToEndOfFile()
            return Outcome(status: child.wait(), output: String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Runs blocking work on a separate thread, so that no task waits for it.
    public static func onThread<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
        }
    }

    /// Returns the path of a program that was built with the tests.
    public static func built(_ name: String) -> String {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent(name).path
    }
}
#endif
