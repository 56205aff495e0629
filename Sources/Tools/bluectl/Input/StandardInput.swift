import BluetoothSupport
import Dispatch
import Foundation

/// Standard input, which a separate thread reads, one piece at a time.
///
/// No bytes are read before a command requests them.
@MainActor
final class StandardInput {
    static let shared = StandardInput()
    /// The names of files that mean standard input.
    static let names: Set<String> = ["-", "/dev/stdin"]

    nonisolated private static let pieceLength = 4096

    private var buffered: Data?
    private var isReading = false
    /// Whether the input has ended; at a terminal, Ctrl-D ends only the present read.
    private(set) var isAtEnd = false
    private var waiting: CheckedContinuation<Data?, Never>?
    /// The number of the call that waits.
    private var lastCall = 0
    private let wanted = DispatchSemaphore(value: 0)
    private var hasThread = false

    var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Returns the next piece; nil at the end of the input, after `cancel()`, or when the task is cancelled.
    ///
    /// At most one caller may wait.
    func next() async -> Data? {
        if let data = buffered {
            buffered = nil
            return data
        }
        if isAtEnd || Task.isCancelled { return nil }
        if !isReading {
            isReading = true
            startThread()
            wanted.signal()
        }
        lastCall += 1
        let call = lastCall
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiting = $0 }
        } onCancel: {
            Task { @MainActor in if call == lastCall { cancel() } }
        }
    }

    /// Puts the last part of a piece back for the next caller.
    func putBack(_ data: Data) {
        guard !data.isEmpty else { return }
        buffered = data + (buffered ?? Data())
    }

    /// Ends the wait of the caller; the next piece is for the next caller.
    func cancel() { resume(nil) }

    private func receive(_ data: Data) {
        isReading = false
        guard !data.isEmpty else {
            isAtEnd = !isTerminal
            return resume(nil)
        }
        if waiting == nil { putBack(data) } else { resume(data) }
    }

    private func resume(_ data: Data?) {
        waiting?.resume(returning: data)
        waiting = nil
    }

    /// Does not use the C library's streams, because a thread that waits in one prevents the end of the process.
    private func startThread() {
        guard !hasThread else { return }
        hasThread = true
        let wanted = wanted
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: Self.pieceLength)
            while true {
                wanted.wait()
                var count = -1
                repeat { count = read(STDIN_FILENO, &buffer, buffer.count) } while count < 0 && errno == EINTR
                let data = Data(buffer.prefix(max(0, count)))
                Task { @MainActor in StandardInput.shared.receive(data) }
            }
        }
    }
}

/// The bytes of a file or a pipe, or of standard input.
@MainActor
final class ByteSource {
    /// The time after which an empty pipe is read again.
    private static let pause = Duration.milliseconds(20)

    private let name: String
    /// The file; nil for standard input.
    private let file: InputFile?

    /// Opens a file; `-` is standard input.
    ///
    /// - Throws: A usage failure if the file cannot be read.
    init(_ path: String) throws(Failure) {
        name = path
        guard !StandardInput.names.contains(path) else {
            file = nil
            return
        }
        do throws(InputFileError) {
            file = try InputFile(path)
            // A folder can be opened, but not read.
            _ = try file?.read(upTo: 0)
        } catch {
            throw Self.failure(path, error)
        }
    }

    /// Returns the next bytes, at most `count`; nil at the end.
    ///
    /// - Throws: `CancellationError`; a usage failure if the file cannot be read.
    func next(_ count: Int) async throws -> Data? {
        var data = Data()
        while data.count < count, let piece = try await piece(count - data.count) { data += piece }
        if file == nil { StandardInput.shared.putBack(Data(data.dropFirst(count))) }
        try Task.checkCancellation()
        return data.isEmpty ? nil : Data(data.prefix(count))
    }

    /// Returns some bytes; from a file, at most `count`.
    private func piece(_ count: Int) async throws -> Data? {
        guard let file else { return await StandardInput.shared.next() }
        while !file.isReadable { try await Task.sleep(for: Self.pause) }
        do throws(InputFileError) {
            let bytes = try file.read(upTo: count)
            return bytes.isEmpty ? nil : Data(bytes)
        } catch {
            throw Self.failure(name, error)
        }
    }

    private static func failure(_ name: String, _ error: InputFileError) -> Failure {
        Failure(.usage, "\(name): the file cannot be read: \(error.reason)")
    }
}

/// Lines of standard input.
@MainActor
final class LineInput {
    /// The maximum length of a line; further bytes belong to the next line.
    private static let maximumLength = 65_536

    private let input = StandardInput.shared
    private var isCancelled = false

    /// Returns the next line without its terminator; nil at the end of the input, or after `cancel()`.
    ///
    /// At most one caller may wait.
    func next() async -> String? {
        isCancelled = false
        var line = Data()
        while let data = await input.next() {
            if let end = data.firstIndex(of: UInt8(ascii: "\n")) {
                input.putBack(Data(data[data.index(after: end)...]))
                return String(decoding: line + data[..<end], as: UTF8.self)
            }
            line += data
            if line.count >= Self.maximumLength { break }
        }
        if isCancelled {
            input.putBack(line)
            return nil
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    /// Ends the wait for a line; the part that was typed is for the next caller.
    func cancel() {
        isCancelled = true
        input.cancel()
    }
}
