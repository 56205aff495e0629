import BluetoothSupport
import Dispatch
import Logging

/// A capture file that is being written.
///
/// Callable from any thread. What cannot be written ends the capture, not the program: the log has one line with the reason,
/// and a file is cut off after the last whole record.
package final class CaptureFile: Sendable {
    private struct State: Sendable {
        var encoder: any CaptureEncoder
        /// nil once the capture has ended.
        var output: CaptureOutput?
        var pending: [UInt8] = []
        var isFlushScheduled = false
        var packetCount = 0
        var lastTime: CaptureTime = 0
    }

    /// The size from which on the pending bytes are written at once.
    private static let bufferSize = 65_536
    /// Pending bytes are written after this time at the latest.
    private static let flushInterval = DispatchTimeInterval.milliseconds(100)

    /// The file's name, as it was given.
    package let name: String
    private let queue = DispatchQueue(label: "CoreBluetooth capture")
    private let state: Lock<State>

    /// Creates a file, which replaces one of that name, or opens a pipe that a program reads.
    ///
    /// Only the user may read a new file: values of characteristics may be private.
    ///
    /// - Throws: ``CaptureError`` if it cannot be written.
    package init(_ name: String, comment: String) throws(CaptureError) {
        self.name = name
        let encoder = CaptureFormat(fileName: name).makeEncoder(comment: comment)
        let output = try CaptureOutput(name)
        state = Lock(State(encoder: encoder, output: output, pending: encoder.header))
        flush()
        OpenCaptures.add(self)
    }

    deinit { close() }

    /// The number of packets so far.
    package var packetCount: Int { state.withLock { $0.packetCount } }

    package func write(_ records: [CaptureRecord]) {
        let mustSchedule = state.withLock { state -> Bool in
            guard state.output != nil else { return false }
            for record in records { Self.encode(record, &state) }
            if state.pending.count >= Self.bufferSize { flush(&state) }
            guard !state.pending.isEmpty, !state.isFlushScheduled else { return false }
            state.isFlushScheduled = true
            return true
        }
        if mustSchedule { queue.asyncAfter(deadline: .now() + Self.flushInterval) { [weak self] in self?.flush() } }
    }

    private static func encode(_ record: CaptureRecord, _ state: inout State) {
        switch record {
        case .packet(let packet):
            state.packetCount += 1
            state.lastTime = packet.time
        case .note(_, let time): state.lastTime = time
        case .host: break
        }
        state.pending += state.encoder.encode(record)
    }

    /// Writes the pending bytes.
    package func flush() {
        state.withLock { state in
            state.isFlushScheduled = false
            flush(&state)
        }
    }

    /// Writes the pending bytes and ends the capture.
    package func close() {
        state.withLock { state in
            guard state.output != nil else { return }
            state.pending += state.encoder.end(at: state.lastTime)
            flush(&state)
            state.output = nil
        }
    }

    private func flush(_ state: inout State) {
        guard let output = state.output, !state.pending.isEmpty else { return }
        defer { state.pending.removeAll(keepingCapacity: true) }
        do throws(CaptureError) {
            try output.write(state.pending)
        } catch {
            state.output = nil
            Logger(label: "CoreBluetooth").error("the capture has ended: \(error)")
        }
    }
}

/// The captures of this process, which are written to the end when it exits.
private enum OpenCaptures {
    private struct Entry: Sendable { weak var file: CaptureFile? }

    private static let entries = Lock<[Entry]>([])
    private static let registration: CInt = atexit { OpenCaptures.close() }

    static func add(_ file: CaptureFile) {
        _ = registration
        entries.withLock { entries in
            entries.removeAll { $0.file == nil }
            entries.append(Entry(file: file))
        }
    }

    private static func close() {
        let files = entries.withLock { $0.compactMap(\.file) }
        for file in files { file.close() }
    }
}

/// A capture that cannot be written.
public struct CaptureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the file.
    public let file: String
    /// The reason.
    public let reason: String

    /// The file and the reason.
    public var description: String { "\(file): \(reason)" }
}

/// The descriptor of a capture file, or of a pipe.
// Invariant: `length` is touched under the lock of the capture file alone.
private final class CaptureOutput: @unchecked Sendable {
    /// How long a reader of a pipe may read nothing, in milliseconds.
    private static let readerTimeout: CInt = 5_000

    private let name: String
    private let descriptor: CInt
    /// The bytes of whole records.
    private var length = 0

    init(_ name: String) throws(CaptureError) {
        self.name = name
        // A pipe without a reader is refused at once instead of waiting for one.
        descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o600)
        if descriptor < 0 {
            let reason = errno == ENXIO ? "no program reads this pipe" : String(cString: strerror(errno))
            throw CaptureError(file: name, reason: reason)
        }
    }

    deinit { _ = close(descriptor) }

    func write(_ bytes: [UInt8]) throws(CaptureError) {
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
                _ = ftruncate(descriptor, off_t(length))
                throw CaptureError(file: name, reason: reason)
            }
        }
        length += bytes.count
    }

    private func waitUntilWritable() throws(CaptureError) {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if systemPoll(&poll, Self.readerTimeout) == 0 {
            throw CaptureError(file: name, reason: "the program at the other end of the pipe reads nothing")
        }
    }
}

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
