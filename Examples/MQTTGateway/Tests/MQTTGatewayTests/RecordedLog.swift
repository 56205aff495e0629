import Logging
import Synchronization

/// The log lines of a test.
final class RecordedLog: Sendable {
    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = self.metadata.merging(event.metadata ?? [:]) { $1 }
            let fields = metadata.sorted { $0.key < $1.key }.map { " \($0)=\($1)" }
            log.written.withLock { $0.append("\(event.level) \(event.message)\(fields.joined())") }
        }
    }

    private let written = Mutex<[String]>([])

    /// A logger that writes here, from the level `info` on.
    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    /// The lines: level, message, and metadata as ` key=value`.
    var lines: [String] { written.withLock(\.self) }
}
