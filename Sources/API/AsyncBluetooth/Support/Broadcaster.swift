import BluetoothSupport

/// The source of a sequence of events: each reader receives every element from its start on.
final class Broadcaster<Element: Sendable>: Sendable {
    private struct State {
        var buffers: [ObjectIdentifier: ElementBuffer<Element>] = [:]
        /// The first element of a new reader; nil if a reader starts with the next element that is sent.
        var current: Element?
    }

    private let state: Lock<State>
    private let policy: BufferingPolicy
    private let context: BluetoothError.Context
    private let log: Log

    /// - Parameters:
    ///   - policy: The number of elements that wait for a slow reader.
    ///   - context: The source of the elements, for the log line of an overflow.
    ///   - log: Receives that line.
    ///   - current: The first element of a reader, until another one is sent; nil to start without one.
    init(_ policy: BufferingPolicy, _ context: BluetoothError.Context, _ log: Log, current: Element? = nil) {
        state = Lock(State(current: current))
        self.policy = policy
        self.context = context
        self.log = log
    }

    /// The elements, for any number of readers, each of which retains `owner`.
    func sequence(retaining owner: any Sendable) -> EventSequence<Element> {
        EventSequence { [self] in
            // Made under the lock, so that no change precedes the present state.
            let buffer = state.withLock { state in
                let buffer = ElementBuffer(policy, context, log, first: state.current)
                state.buffers[ObjectIdentifier(buffer)] = buffer
                return buffer
            }
            return ElementReader(
                buffer,
                onDeinit: DeinitAction { [self] in
                    state.withLock { $0.buffers[ObjectIdentifier(buffer)] = nil }
                    withExtendedLifetime(owner) {}
                })
        }
    }

    func send(_ element: Element) { replaceCurrent(with: element)() }

    /// Replaces the first element of a new reader.
    ///
    /// The caller may hold the lock of the state that the element describes, so that no caller that has seen that state
    /// begins to read with an older one.
    ///
    /// - Returns: A closure that sends the element to the present readers; for a call without that lock.
    func replaceCurrent(with element: Element) -> @Sendable () -> Void {
        let buffers = state.withLock { state in
            if state.current != nil { state.current = element }
            return Array(state.buffers.values)
        }
        return { for buffer in buffers { buffer.append(element) } }
    }

    func finish() {
        for buffer in state.withLock({ Array($0.buffers.values) }) { buffer.finish() }
    }
}
