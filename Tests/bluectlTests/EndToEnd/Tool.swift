#if Emulator && os(Linux)
import Foundation
import Synchronization

/// Runs the built tool as a process of its own.
struct Tool {
    /// What a run left behind.
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

    /// `bluectl` beside the test bundle.
    static var path: String {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appendingPathComponent("bluectl").path
    }

    /// The process's own environment, without what chooses a radio or colours.
    static var environment: [String: String] {
        ProcessInfo.processInfo.environment.filter {
            !$0.key.hasPrefix("COREBLUETOOTH_") && !["CI", "NO_COLOR", "TERM"].contains($0.key)
        }
    }

    /// Runs the tool until it ends.
    ///
    /// - Parameters:
    ///   - environment: Beside ``environment``.
    ///   - input: What it reads, before the end of its input.
    ///   - interrupts: Sends a signal after the first line of standard output that has `lastWord`.
    ///   - lastWord: Part of that line; empty for the first one.
    ///   - signal: The signal.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], input: String = "", interrupts: Bool = false,
        after lastWord: String = "", with signal: Int32 = SIGINT
    ) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                let interruption = interrupts ? Interrupter(word: lastWord, signal: signal) : nil
                continuation.resume(
                    with: Result { try wait(arguments, environment, Data(input.utf8), interruption) })
            }
        }
    }

    /// Runs `body` with the path of a file that is there meanwhile.
    static func withFile<Result>(
        _ content: String, _ name: String, _ body: (String) async throws -> Result
    ) async throws -> Result {
        try await withFolder { folder in
            let file = folder.appendingPathComponent(name)
            try content.write(to: file, atomically: true, encoding: .utf8)
            return try await body(file.path)
        }
    }

    /// Runs `body` with a folder that is there meanwhile.
    static func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bluectl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let result = try await body(folder)
        try FileManager.default.removeItem(at: folder)
        return result
    }

    private static func wait(
        _ arguments: [String], _ environment: [String: String], _ input: Data, _ interrupter: Interrupter?
    ) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = Self.environment.merging(environment) { $1 }
        let output = Reader()
        let errors = Reader()
        process.standardOutput = output.pipe
        process.standardError = errors.pipe
        let keyboard = Pipe()
        process.standardInput = keyboard
        // Fits into the pipe, and stays there until it is read.
        keyboard.fileHandleForWriting.write(input)
        try keyboard.fileHandleForWriting.close()
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.run()
        interrupter?.process = process.processIdentifier
        output.interrupter = interrupter
        output.start()
        errors.start()
        guard ended.wait(timeout: .now() + limit) == .success else {
            kill(process.processIdentifier, SIGKILL)
            throw ToolError.late(arguments: arguments, output: output.finish() + errors.finish())
        }
        return Outcome(status: process.terminationStatus, output: output.finish(), errors: errors.finish())
    }
}

/// Sends a signal once a line has come.
private final class Interrupter {
    let word: String
    let signal: Int32
    var process: Int32 = 0

    init(word: String, signal: Int32) {
        self.word = word
        self.signal = signal
    }

    /// Looks at all that was written so far.
    ///
    /// - Returns: Whether the signal was sent.
    func look(at text: String) -> Bool {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        guard lines.contains(where: { word.isEmpty || $0.contains(word) }) else { return false }
        kill(process, signal)
        return true
    }
}

/// Collects what a process writes, on a thread of its own.
// Invariant of `@unchecked`: `interrupter` is set before `start()`, and used on its thread alone; the bytes are reached
// under the lock.
private final class Reader: @unchecked Sendable {
    let pipe = Pipe()
    var interrupter: Interrupter?
    private let bytes = Mutex(Data())
    private let done = DispatchSemaphore(value: 0)

    func start() {
        Thread.detachNewThread { [self] in
            while case let chunk = pipe.fileHandleForReading.availableData, !chunk.isEmpty {
                let all = bytes.withLock { bytes in
                    bytes.append(chunk)
                    return bytes
                }
                if interrupter?.look(at: String(decoding: all, as: UTF8.self)) == true { interrupter = nil }
            }
            done.signal()
        }
    }

    /// All that was written, once the writer has closed its end.
    func finish() -> String {
        done.wait()
        defer { done.signal() }
        return bytes.withLock { String(decoding: $0, as: UTF8.self) }
    }
}
#endif
