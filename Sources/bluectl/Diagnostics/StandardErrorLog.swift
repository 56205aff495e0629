import Logging

/// A log handler that writes one line a message, through `Diagnostics`.
struct StandardErrorLog: LogHandler {
    let label: String
    let isJSON: Bool
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]

    init(label: String, level: Logger.Level, isJSON: Bool) {
        self.label = label
        self.isJSON = isJSON
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        // Warnings as they are; what only `--verbose` shows tells where it comes from.
        let source = event.metadata?["source"].map { "\($0): " } ?? "\(event.level): "
        let text = event.level >= .warning ? "\(event.message)" : "[\(label)] \(source)\(event.message)"
        Diagnostics.take(text, level: event.level, isJSON: isJSON)
    }
}
