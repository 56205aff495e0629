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
    ///   - interrupts: Sends SIGINT after the first line of standard output.
    static func run(
        _ arguments: [String], environment: [String: String] = [:], interrupts: Bool = false
    ) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result { try wait(arguments, environment: environment, interrupts: interrupts) })
            }
        }
    }

    private static func wait(
        _ arguments: [String], environment: [String: String], interrupts: Bool
    ) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = Self.environment.merging(environment) { $1 }
        let output = Reader()
        let errors = Reader()
        process.standardOutput = output.pipe
        process.standardError = errors.pipe
        process.standardInput = FileHandle.nullDevice
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        let identifier = Mutex<Int32?>(nil)
        output.onLine = { if interrupts, let process = identifier.withLock({ $0 }) { kill(process, SIGINT) } }
        try process.run()
        identifier.withLock { $0 = process.processIdentifier }
        output.start()
        errors.start()
        guard ended.wait(timeout: .now() + limit) == .success else {
            kill(process.processIdentifier, SIGKILL)
            throw ToolError.late(arguments: arguments, output: output.finish() + errors.finish())
        }
        return Outcome(status: process.terminationStatus, output: output.finish(), errors: errors.finish())
    }
}

/// Collects what a process writes, on a thread of its own.
// Invariant of `@unchecked`: `onLine` is set before `start()`; the bytes are reached under the lock.
private final class Reader: @unchecked Sendable {
    let pipe = Pipe()
    var onLine: () -> Void = {}
    private let bytes = Mutex(Data())
    private let done = DispatchSemaphore(value: 0)

    func start() {
        Thread.detachNewThread { [self] in
            var hasLine = false
            while case let chunk = pipe.fileHandleForReading.availableData, !chunk.isEmpty {
                bytes.withLock { $0.append(chunk) }
                if !hasLine, chunk.contains(UInt8(ascii: "\n")) {
                    hasLine = true
                    onLine()
                }
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
