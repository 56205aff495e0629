import BluetoothLocking
import Logging
import Synchronization

/// Keeps what is logged in this process, since logging is set up once for all tests.
enum LogCapture {
    private static let lines = Lock<[String]>([])
    private static let bootstrapped: Void = LoggingSystem.bootstrap { label in Handler(label: label) }

    /// Sets logging up.
    ///
    /// Call it first in a test that asks for lines.
    static func start() { _ = bootstrapped }

    /// The lines so far that contain `text`, as `label level message`.
    static func lines(containing text: String) -> [String] {
        lines.withLock { $0.filter { $0.contains(text) } }
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
            lines.withLock { $0.append(text) }
        }
    }
}
