import Foundation
package import Logging

/// A log handler that writes each line to standard error as a JSON object: `time`, `level`, `message`, and the
/// metadata.
package struct JSONLogHandler: LogHandler {
    package var logLevel: Logger.Level = .info
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let label: String

    package init(label: String) { self.label = label }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var fields = (metadataProvider?.get() ?? [:]).mapValues { "\($0)" }
        fields.merge(metadata.mapValues { "\($0)" }) { $1 }
        fields.merge((event.metadata ?? [:]).mapValues { "\($0)" }) { $1 }
        fields["time"] = Date().iso8601
        fields["level"] = event.level.rawValue
        fields["logger"] = label
        fields["message"] = "\(event.message)"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding a dictionary of texts cannot fail.
        guard let line = try? encoder.encode(fields) else { return }
        FileHandle.standardError.write(line + Data("\n".utf8))
    }
}
