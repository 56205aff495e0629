import Foundation
import Logging

@testable import CoreBluetoothEmulator

/// The log lines of this process with the module's label: logging is set up once in a process.
enum CapturedLog {
    private static let lines: Guarded<[String]> = {
        let lines = Guarded<[String]>([])
        LoggingSystem.bootstrap { label in Handler(label: label, lines: lines) }
        return lines
    }()

    /// Runs `body`.
    ///
    /// - Returns: The number of lines with a text that were logged meanwhile.
    static func count(of text: String, during body: () async throws -> Void) async rethrows -> Int {
        let before = count(of: text)
        try await body()
        return count(of: text) - before
    }

    private static func count(of text: String) -> Int {
        lines.withLock { $0.filter { $0.contains(text) }.count }
    }

    private struct Handler: LogHandler {
        let label: String
        let lines: Guarded<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard label == "CoreBluetoothEmulator" else { return }
            lines.withLock { $0.append("\(event.level): \(event.message)") }
        }
    }
}
