package import BluetoothBackend
import BluetoothSupport
public import Logging

/// The lines of a ``TracingBackend``, in the order in which commands and events passed.
///
/// A line has the time at which its command or event passed. The backend may deliver an event under its lock, so the trace writes
/// the text and logs later: just before the receiver handles the event, or with the next command.
public final class BackendTrace: Sendable {
    /// The destination of lines.
    public enum Destination: Sendable {
        /// The array ``BackendTrace/entries``, which grows without limit: for tests and short runs.
        case memory
        /// A log, at one level, with `category` and `source` as metadata.
        case log(Logger, level: Logger.Level = .debug)
        /// A file, or standard error.
        case file(TraceFile)
    }

    /// The role of a line.
    struct Source: Sendable {
        var role: String
        var number: Int
        /// The adapter that the manager named.
        var host: String?
        var clock: any BackendClock

        var name: String { "\(role) \(number)" }
    }

    private struct Line: Sendable {
        var makeEntry: @Sendable (inout TraceNames) -> TraceEntry
    }

    private struct State {
        var entries: [TraceEntry] = []
        var names = TraceNames()
        var lastRole = 0
    }

    /// Whether values and addresses are written; otherwise a line contains the length of a value and hides addresses.
    public let showsValues: Bool
    private let destination: Destination
    private let filter: TraceFilter
    private let clock: any BackendClock
    private let pending = DeferredMessages<Line>()
    private let state = Lock(State())

    package init(
        _ destination: Destination, filter: TraceFilter = TraceFilter(), clock: any BackendClock, showsValues: Bool
    ) {
        self.destination = destination
        self.filter = filter
        self.clock = clock
        self.showsValues = showsValues
    }

    /// Returns the number of the next role.
    func nextRole() -> Int {
        state.withLock { state in
            state.lastRole += 1
            return state.lastRole
        }
    }

    /// The lines so far; empty for other destinations.
    public var entries: [TraceEntry] {
        flush()
        return state.withLock { $0.entries }
    }

    /// Adds a line of the category `simulation`, for the caller of a simulation control.
    ///
    /// Callable from any thread.
    public func log(_ text: String) {
        let time = clock.now
        append(Line { _ in TraceEntry(time: time, category: .simulation, text: text) })
        flush()
    }

    /// Adds an existing line, which contains its time.
    package func add(_ entry: TraceEntry) {
        append(Line { _ in entry })
        flush()
    }

    /// Adds the line of a role's creation or end.
    func add(_ line: TraceLine, _ category: TraceCategory, from source: Source) {
        let time = source.clock.now
        append(
            Line { _ in
                TraceEntry(
                    line, at: time, direction: .command, category: category, host: source.host, source: source.name)
            })
        flush()
    }

    /// Adds the line of a command or event and nothing else, so that it may be called under a backend's lock.
    func add<Message: TraceMessage>(_ message: Message, from source: Source) {
        let time = Message.direction == .event ? source.clock.deliveryTime : source.clock.now
        append(
            Line { [showsValues] names in
                TraceEntry(
                    names.line(for: message, role: source.number, showsValues: showsValues), at: time,
                    direction: Message.direction, category: message.category, host: source.host, source: source.name)
            })
    }

    private func append(_ line: Line) { pending.append(line) }

    /// Writes the lines and passes them on, unless another thread does so already.
    func flush() {
        pending.handle { lines in
            // Only this thread uses the names while it learns.
            var names = state.withLock { exchange(&$0.names, with: TraceNames()) }
            let entries = lines.map { $0.makeEntry(&names) }.filter(filter.includes)
            switch destination {
            case .memory: break
            case .file(let file): file.write(entries)
            case .log(let logger, let level): for entry in entries { Self.log(entry, to: logger, level) }
            }
            state.withLock { state in
                if case .memory = destination { state.entries += entries }
                state.names = names
            }
        }
    }

    private static func log(_ entry: TraceEntry, to logger: Logger, _ level: Logger.Level) {
        logger.line(level, entry.text, metadata: ["category": entry.category.rawValue, "source": entry.source])
    }
}
