import BluetoothSupport
import Foundation
import Testing

/// Child processes that run the histories of a test of Swift Testing, so that a trap ends only a child.
///
/// A child is the same test program, told to run the same test. The parent and the child exchange files in a folder.
struct HistoryProcess: Sendable {
    /// The role of this process if a parent started it.
    struct Child: Sendable {
        let folder: URL
        /// The identifier of the only test that runs.
        let test: String

        /// nil unless a parent started this process.
        static let current: Child? = {
            let environment = ProcessInfo.processInfo.environment
            guard let folder = environment[folderVariable], let test = environment[testVariable] else { return nil }
            return Child(folder: URL(fileURLWithPath: folder), test: test)
        }()

        /// The history that the parent wants to be run; nil for a search.
        func candidate() throws -> RadioHistory? {
            let file = folder.appendingPathComponent(candidateFile)
            guard FileManager.default.fileExists(atPath: file.path) else { return nil }
            return try JSONDecoder().decode(RadioHistory.self, from: Data(contentsOf: file))
        }

        /// Stores the history that is about to run, because it may end the process.
        func begin(_ history: RadioHistory, _ number: Int) throws {
            try store(Running(number: number, history: history), in: runningFile)
        }

        func end(_ result: HistorySearch.Result) throws { try store(result, in: resultFile) }

        private func store(_ value: some Encodable, in name: String) throws {
            try JSONEncoder().encode(value).write(to: folder.appendingPathComponent(name))
        }
    }

    private static let folderVariable = "COREBLUETOOTH_HISTORY_CHILD"
    private static let testVariable = "COREBLUETOOTH_HISTORY_CHILD_TEST"
    private static let candidateFile = "candidate.json"
    private static let runningFile = "running.json"
    private static let resultFile = "result.json"
    private static let errorFile = "stderr.txt"

    private struct Running: Codable {
        var number: Int
        var history: RadioHistory
    }

    /// The way in which a child ended.
    private enum End {
        case result(HistorySearch.Result)
        /// It trapped, or ended in another way before its result.
        case death(Running, message: String)
    }

    private struct NoResult: Error, CustomStringConvertible {
        var message: String
        var description: String { "the child process of the histories ended without a result: \(message)" }
    }

    let test: Test.ID

    /// Searches in a child.
    ///
    /// A history that ends the child is simplified in further ones.
    func search() async throws -> HistorySearch.Result {
        switch try await run(nil) {
        case .result(let result): return result
        case .death(let running, let message):
            var shrinker = HistoryShrinker(running.history)
            var failures = [message]
            while let candidate = shrinker.next() {
                switch try await run(candidate) {
                case .result(let result) where result.finding == nil: break
                case .result(let result):
                    shrinker.fails()
                    failures = result.finding?.failures ?? failures
                case .death(_, let message):
                    shrinker.fails()
                    failures = [message]
                }
            }
            return HistorySearch.Result(
                count: running.number,
                finding: HistorySearch.Finding(
                    number: running.number, original: running.history, simplest: shrinker.simplest,
                    failures: failures, runs: shrinker.runs, endsProcess: true))
        }
    }

    private func run(_ candidate: RadioHistory?) async throws -> End {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("histories-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { removeFolder(folder) }
        if let candidate {
            try JSONEncoder().encode(candidate).write(to: folder.appendingPathComponent(Self.candidateFile))
        }
        let death = try await end(ofChildIn: folder)
        func stored<Value: Decodable>(_ name: String) throws -> Value? {
            let file = folder.appendingPathComponent(name)
            guard FileManager.default.fileExists(atPath: file.path) else { return nil }
            return try JSONDecoder().decode(Value.self, from: Data(contentsOf: file))
        }
        if let result: HistorySearch.Result = try stored(Self.resultFile) { return .result(result) }
        let message = try Self.lastWords(folder.appendingPathComponent(Self.errorFile)) ?? death
        guard let running: Running = try stored(Self.runningFile) else { throw NoResult(message: message) }
        return .death(running, message: "\(death): \(message)")
    }

    private func removeFolder(_ folder: URL) {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            print("\(folder.path) is not removed: \(error)")
        }
    }

    /// Runs a child to its end.
    ///
    /// - Returns: The way in which it ended, in words.
    private func end(ofChildIn folder: URL) async throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        let name = "\(test.moduleName).\(test.nameComponents.joined(separator: "/"))"
        process.arguments = [
            "--testing-library", "swift-testing", "--filter", "^" + NSRegularExpression.escapedPattern(for: name),
        ]
        var environment = ProcessInfo.processInfo.environment
        environment[Self.folderVariable] = folder.path
        environment[Self.testVariable] = "\(test)"
        environment["COREBLUETOOTH_HISTORY"] = nil
        // The runtime would take seconds to describe each trap.
        environment["SWIFT_BACKTRACE"] = "enable=no"
        process.environment = environment
        let error = folder.appendingPathComponent(Self.errorFile)
        try Data().write(to: error)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: error)
        process.standardInput = FileHandle.nullDevice
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { process in
                let isSignal = process.terminationReason == .uncaughtSignal
                continuation.resume(
                    returning: "the process ended with \(isSignal ? "signal" : "code") \(process.terminationStatus)")
            }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }

    /// The line with which the runtime of Swift reports a trap.
    private static func lastWords(_ file: URL) throws -> String? {
        let lines = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n")
        return lines.last { $0.contains("Fatal error") || $0.contains("Precondition failed") }.map(String.init)
    }
}
