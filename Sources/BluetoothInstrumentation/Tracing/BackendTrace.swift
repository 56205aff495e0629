import BluetoothBackend
import BluetoothSupport
public import Logging

/// The lines of a ``TracingBackend``, in the order in which commands and events passed.
///
/// An event is recorded where the backend delivers it, which may be under the backend's lock. The trace reads the time, writes
/// the text and logs only outside of that lock: just before the receiver handles the event, or with the next command.
public final class BackendTrace: Sendable {
    /// The destination of lines.
    public enum Destination: Sendable {
        /// Into ``BackendTrace/entries``, which grows without limit: for tests and short runs.
        case memory
        /// To a log, at one level, with `category` and `source` as metadata.
        case log(Logger, level: Logger.Level = .debug)
    }

    /// The role that a line belongs to.
    struct Source: Sendable {
        var role: String
        var number: Int

        var name: String { role.isEmpty ? "" : "\(role) \(number)" }
    }

    private struct Line: Sendable {
        var category: TraceCategory
        var source: Source
        var text: @Sendable (inout TraceNames) -> String
    }

    private struct State {
        var pending: [Line] = []
        var isFlushing = false
        var entries: [TraceEntry] = []
        var names = TraceNames()
    }

    /// Whether values and addresses are written out; otherwise a line has the length of a value and hides addresses.
    public let showsValues: Bool
    private let destination: Destination
    private let clock: any BackendClock
    private let state = Lock(State())

    init(_ destination: Destination, clock: any BackendClock, showsValues: Bool) {
        self.destination = destination
        self.clock = clock
        self.showsValues = showsValues
    }

    /// The lines so far; empty where they go to a log.
    public var entries: [TraceEntry] {
        flush()
        return state.withLock { $0.entries }
    }

    /// Adds a line of the category `simulation`, for the caller of a simulation control.
    ///
    /// Callable from any thread.
    public func log(_ text: String) { log(text, .simulation, from: Source(role: "", number: 0)) }

    func log(_ text: String, _ category: TraceCategory, from source: Source) {
        append(Line(category: category, source: source) { _ in text })
        flush()
    }

    /// Adds the line of a command or event and does nothing else, so that it may be called under a backend's lock.
    func add(_ message: some CategorizedMessage, from source: Source) {
        append(
            Line(category: message.traceCategory, source: source) { [showsValues] names in
                names.line(for: message, role: source.number, showsValues: showsValues)
            })
    }

    private func append(_ line: Line) { state.withLock { $0.pending.append(line) } }

    /// Adds the time to the lines and passes them on, unless another thread does so already.
    func flush() {
        while var (lines, names) = takePending() {
            let time = clock.now
            let entries = lines.map {
                TraceEntry(time: time, category: $0.category, source: $0.source.name, text: $0.text(&names))
            }
            if case .log(let logger, let level) = destination {
                for entry in entries {
                    logger.log(
                        level: level, "\(entry.text)",
                        metadata: ["category": "\(entry.category.rawValue)", "source": "\(entry.source)"])
                }
            }
            lines = []
            finish(entries, names)
        }
    }

    private func takePending() -> (lines: [Line], names: TraceNames)? {
        state.withLock { state in
            guard !state.isFlushing, !state.pending.isEmpty else { return nil }
            state.isFlushing = true
            defer {
                state.pending = []
                state.names = TraceNames()
            }
            return (state.pending, state.names)
        }
    }

    private func finish(_ entries: [TraceEntry], _ names: TraceNames) {
        state.withLock { state in
            if case .memory = destination { state.entries += entries }
            state.names = names
            state.isFlushing = false
        }
    }
}
