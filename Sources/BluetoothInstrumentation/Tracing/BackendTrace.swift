import BluetoothBackend
import BluetoothSupport
public import Logging
import Synchronization

/// The lines of a ``TracingBackend``, in the order in which things passed.
///
/// An event is noted where the radio hands it over, which may be under the radio's lock. Time is asked and lines are
/// logged only outside of it: just before the receiver handles the event, or with the next command.
public final class BackendTrace: Sendable {
    /// Where lines go.
    public enum Destination: Sendable {
        /// Into ``BackendTrace/entries``, which grows without limit: for tests and short runs.
        case memory
        /// To a log, at one level, with `category` and `source` as metadata.
        case log(Logger, level: Logger.Level = .debug)
    }

    private struct Line: Sendable {
        var category: TraceCategory
        var source: String
        var text: @Sendable () -> String
    }

    private struct State {
        var pending: [Line] = []
        var isFlushing = false
        var entries: [TraceEntry] = []
    }

    /// Whether values and addresses are written out; otherwise a line tells a value's length and hides addresses.
    public let showsValues: Bool
    private let destination: Destination
    private let clock: any BackendClock
    private let state = Lock(State())

    init(_ destination: Destination, clock: any BackendClock, showsValues: Bool) {
        self.destination = destination
        self.clock = clock
        self.showsValues = showsValues
    }

    /// What passed so far; empty where lines go to a log.
    public var entries: [TraceEntry] {
        flush()
        return state.withLock { $0.entries }
    }

    /// Adds a line of the category `simulation`, as whoever uses a simulation control wants it.
    ///
    /// Callable from any thread.
    public func note(_ text: String) {
        add(.simulation, source: "", { text })
        flush()
    }

    /// Adds a line; nothing else happens, so that it may be called under a radio's lock.
    func add(_ category: TraceCategory, source: String, _ text: @escaping @Sendable () -> String) {
        state.withLock { $0.pending.append(Line(category: category, source: source, text: text)) }
    }

    /// Gives lines their time and sends them on, unless another thread is at it.
    func flush() {
        while let lines = takePending() {
            let time = clock.now
            let entries = lines.map {
                TraceEntry(time: time, category: $0.category, source: $0.source, text: $0.text())
            }
            switch destination {
            case .memory: state.withLock { $0.entries += entries }
            case .log(let logger, let level):
                for entry in entries {
                    logger.log(
                        level: level, "\(entry.text)",
                        metadata: ["category": "\(entry.category.rawValue)", "source": "\(entry.source)"])
                }
            }
            state.withLock { $0.isFlushing = false }
        }
    }

    private func takePending() -> [Line]? {
        state.withLock { state in
            guard !state.isFlushing, !state.pending.isEmpty else { return nil }
            state.isFlushing = true
            defer { state.pending = [] }
            return state.pending
        }
    }
}
