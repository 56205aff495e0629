#if Emulator && os(Linux)
import ChildProcesses
import Foundation
import Synchronization

/// The built tool, run as a separate process.
struct Tool {
    /// The results of a run.
    struct Outcome: Sendable {
        var status: Int32
        var output: String
        var errors: String

        /// The lines of standard output.
        var lines: [String] { output.split(separator: "\n").map { String($0) } }

        /// The lines of standard output as JSON objects.
        func objects() throws -> [NSDictionary] {
            try lines.map { line in
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
                guard let dictionary = object as? NSDictionary else { throw ToolError.noObject(line) }
                return dictionary
            }
        }
    }

    enum ToolError: Error {
        case noObject(String)
        case late(arguments: [String], output: String)
    }

    /// A test that hangs ends after this time.
    private static let limit: DispatchTimeInterval = .seconds(60)

    /// The path of `bluectl` beside the test bundle.
    static var path: String { ChildProcess.built("bluectl") }

    /// The environment of this process, without variables that select a backend or colors.
    static var environment: [String: String] {
        ProcessInfo.processInfo.environment.filter {
            !$0.key.hasPrefix("COREBLUETOOTH_") && !["CI", "NO_COLOR", "TERM"].contains($0.key)
        }
    }

    /// Runs the tool until it ends.
    ///
    /// - Parameters:
    ///   - environment: Variables in addition to ``environment``.
    ///   - input: Its standard input.
    ///   - interrupts: Whether a signal is sent after the first line of standard output that contains `lastWord`.
    ///   - lastWord: A part of that line; empty for the first one.
    ///   - signal: The signal.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], input: String = "", interrupts: Bool = false,
        after lastWord: String = "", with signal: Int32 = SIGINT
    ) async throws -> Outcome {
        try await ChildProcess.onThread {
            let interruption = interrupts ? Interrupter(word: lastWord, signal: signal) : nil
            return try wait(arguments, environment, Data(input.utf8), interruption)
        }
    }

    /// Runs commands of bash, in which `$TOOL` is the tool.
    static func shell(_ script: String, environment: [String: String] = [:]) async throws -> Outcome {
        try await ChildProcess.onThread {
            try wait(
                ["-c", script], of: "/bin/bash", ["TOOL": path].merging(environment) { $1 }, Data(), nil)
        }
    }

    /// Runs `body` with the path of a temporary file.
    static func withFile<Result>(
        _ content: String, _ name: String, _ body: (String) async throws -> Result
    ) async throws -> Result {
        try await withFolder { folder in
            let file = folder.appendingPathComponent(name)
            try content.write(to: file, atomically: true, encoding: .utf8)
            return try await body(file.path)
        }
    }

    /// Runs `body` with a temporary folder.
    static func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bluectl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let result = try await body(folder)
        try FileManager.default.removeItem(at: folder)
        return result
    }

    private static func wait(
        _ arguments: [String], of program: String = path, _ environment: [String: String], _ input: Data,
        _ interrupter: Interrupter?
    ) throws -> Outcome {
        let (keyboard, typing) = try ChildProcess.pipe()
        // The input fits into the pipe, and stays there until it is read.
        try typing.write(contentsOf: input)
        try typing.close()
        let output = try Reader()
        let errors = try Reader()
        let process = try ChildProcess(
            program, arguments, environment: Self.environment.merging(environment) { $1 }, input: keyboard,
            output: output.writing, errors: errors.writing)
        interrupter?.process = process
        output.interrupter = interrupter
        try output.start()
        try errors.start()
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            _ = process.wait()
            ended.signal()
        }
        guard ended.wait(timeout: .now() + limit) == .success else {
            process.signal(SIGKILL)
            throw ToolError.late(arguments: arguments, output: output.finish() + errors.finish())
        }
        return Outcome(status: process.wait(), output: output.finish(), errors: errors.finish())
    }
}

/// A sender of a signal after a line has arrived.
private final class Interrupter {
    let word: String
    let signal: Int32
    var process: ChildProcess?

    init(word: String, signal: Int32) {
        self.word = word
        self.signal = signal
    }

    /// Examines everything written so far.
    ///
    /// - Returns: Whether the signal was sent.
    func look(at text: String) -> Bool {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        guard lines.contains(where: { word.isEmpty || $0.contains(word) }) else { return false }
        process?.signal(signal)
        return true
    }
}

/// A reader of a process's output, on a separate thread.
// Invariant of `@unchecked`: `interrupter` is set before `start()`, and used only on its thread; the bytes are accessed
// under the lock.
private final class Reader: @unchecked Sendable {
    let writing: FileHandle
    private let reading: FileHandle
    var interrupter: Interrupter?
    private let bytes = Mutex(Data())
    private let done = DispatchSemaphore(value: 0)

    init() throws {
        (reading, writing) = try ChildProcess.pipe()
    }

    /// Reads until the program closes its end.
    func start() throws {
        try writing.close()
        Thread.detachNewThread { [self] in
            while case let chunk = reading.availableData, !chunk.isEmpty {
                let all = bytes.withLock { bytes in
                    bytes.append(chunk)
                    return bytes
                }
                if interrupter?.look(at: String(decoding: all, as: UTF8.self)) == true { interrupter = nil }
            }
            done.signal()
        }
    }

    /// Returns the whole output, once the writer has closed its end.
    func finish() -> String {
        done.wait()
        defer { done.signal() }
        return bytes.withLock { String(decoding: $0, as: UTF8.self) }
    }
}
#endif
