import BluetoothSupport
import Logging

/// The log of the library on standard error: warnings and errors, or everything with `--verbose`.
///
/// Warnings are delayed until the adapter is known to be usable. If it is not, the command fails with the last of them,
/// so that the user reads it only once.
enum Diagnostics {
    private enum Gate {
        case holding([Held])
        case open
        case closed
    }

    private struct Held {
        let text: String
        let level: Logger.Level
        let isJSON: Bool

        /// The line as it is written; in JSON, warnings and errors are separate from the rest of the log.
        var line: String {
            isJSON ? ([level >= .warning ? "warning" : "log": text] as JSONFields).line : text
        }
    }

    private static let gate = Lock(Gate.holding([]))

    private static let isBootstrapped = Lock(false)

    /// Makes this the log of the process, before any backend is created; later calls do nothing.
    static func bootstrap(isVerbose: Bool, isJSON: Bool) {
        guard !isBootstrapped.withLock({ exchange(&$0, with: true) }) else { return }
        LoggingSystem.bootstrap { label in
            StandardErrorLog(label: label, level: isVerbose ? .trace : .warning, isJSON: isJSON)
        }
    }

    /// Delays, writes or drops a line.
    static func append(_ line: String, level: Logger.Level, isJSON: Bool) {
        let isOut = gate.withLock { gate in
            switch gate {
            case .holding(let lines):
                guard level >= .warning else { return true }
                gate = .holding(lines + [Held(text: line, level: level, isJSON: isJSON)])
                return false
            case .open: return true
            case .closed: return level < .warning
            }
        }
        if isOut { write(Held(text: line, level: level, isJSON: isJSON)) }
    }

    /// Writes the delayed lines, and later lines at once, unless the log is closed.
    static func open() {
        let held = gate.withLock { gate -> [Held] in
            guard case .holding(let lines) = gate else { return [] }
            gate = .open
            return lines
        }
        for line in held { write(line) }
    }

    /// Drops all later warnings.
    ///
    /// - Returns: The last delayed line, if any; earlier ones are written.
    static func close() -> String? {
        var held: [Held] = []
        if case .holding(let lines) = gate.withLock({ exchange(&$0, with: .closed) }) { held = lines }
        let last = held.popLast()
        for line in held { write(line) }
        return last?.text
    }

    private static func write(_ line: Held) {
        let isTerminal = StandardStream.error.isTerminal
        // If standard error is closed, no reader is left.
        _ = StandardStream.error.write((isTerminal ? "\r\u{1B}[K" : "") + line.line + "\n")
    }
}

/// A log handler that writes each message as one line, through `Diagnostics`.
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
        // Lines that only `--verbose` shows begin with their source.
        let source = event.metadata?["source"].map { "\($0): " } ?? "\(event.level): "
        let text = event.level >= .warning ? "\(event.message)" : "[\(label)] \(source)\(event.message)"
        Diagnostics.append(text, level: event.level, isJSON: isJSON)
    }
}
