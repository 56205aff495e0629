import BluetoothSupport
import Logging
import Synchronization

/// The log lines of this process, since logging is set up once for all tests.
package enum LogCapture {
    private static let lines = Lock<[(text: String, category: String?)]>([])
    private static let bootstrapped: Void = LoggingSystem.bootstrap { label in Handler(label: label) }

    /// Sets logging up.
    ///
    /// Call it first in a test that reads lines.
    package static func start() { _ = bootstrapped }

    /// The lines so far that contain `text`, as `label level message`.
    package static func lines(containing text: String) -> [String] {
        lines.withLock { $0.map(\.text).filter { $0.contains(text) } }
    }

    /// The categories, in their metadata, of the lines so far that contain `text`.
    package static func categories(containing text: String) -> [String] {
        lines.withLock { $0.filter { $0.text.contains(text) }.compactMap(\.category) }
    }

    private struct Handler: LogHandler {
        let label: String
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let text = "\(label) \(event.level) \(event.message)"
            let category = event.metadata?["category"].map { "\($0)" }
            lines.withLock { $0.append((text, category)) }
        }
    }
}
