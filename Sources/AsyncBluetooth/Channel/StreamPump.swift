import BluetoothSupport
import CoreBluetooth
import Synchronization

#if !canImport(Darwin)
import CoreBluetoothPackage
#endif

/// Moves bytes between tasks and a channel's streams.
final class StreamPump: Sendable {
    private struct State {
        let channel: CBL2CAPChannel
        var isClosed = false
        var readers = Line()
        var writers = Line()
    }

    /// The tasks of one stream; the first one uses it, the others wait.
    struct Line {
        var waiters: [Waiter<Void>] = []
        var isTaken = false
        /// Resumes the task that uses the stream.
        var ready: Waiter<Void>?
    }

    private let state: LockedState<State>
    private let delegate = StreamEventForwarder()

    init(_ channel: Unchecked<CBL2CAPChannel>) {
        state = LockedState(State(channel: channel.value))
        delegate.pump = self
        for stream in [channel.value.inputStream as Stream?, channel.value.outputStream as Stream?].compactMap({ $0 }) {
            stream.delegate = delegate
            StreamLoop.shared.add(stream)
            stream.open()
        }
    }

    private func withState<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock(body)
    }

    /// Whether the channel is known to have ended with its link.
    var hasLostLink: Bool {
        #if !canImport(Darwin)
        withState { $0.channel.hasLostLink }
        #else
        false
        #endif
    }

    // MARK: Bytes

    func read(upTo maximum: Int) async throws -> Data? {
        try await takeTurn(\.readers)
        defer { endTurn(\.readers) }
        while true {
            let ready = Waiter<Void>()
            guard let stream = begin(ready, \.readers)?.inputStream else { throw OperationFailure(.cancelled) }
            if stream.hasBytesAvailable {
                var bytes = [UInt8](repeating: 0, count: maximum)
                let count = stream.read(&bytes, maxLength: maximum)
                if count > 0 { return Data(bytes.prefix(count)) }
            }
            switch stream.streamStatus {
            case .atEnd, .closed: return nil
            case .error: throw OperationFailure(.disconnected(stream.streamError))
            default: try await ready.value {}
            }
        }
    }

    func write(_ data: Data) async throws {
        try await takeTurn(\.writers)
        defer { endTurn(\.writers) }
        var rest = [UInt8](data)[...]
        while !rest.isEmpty {
            let ready = Waiter<Void>()
            guard let stream = begin(ready, \.writers)?.outputStream else { throw OperationFailure(.cancelled) }
            if stream.hasSpaceAvailable {
                let count = rest.withUnsafeBufferPointer { bytes in
                    bytes.baseAddress.map { stream.write($0, maxLength: bytes.count) } ?? 0
                }
                if count > 0 {
                    rest = rest.dropFirst(count)
                    continue
                }
            }
            switch stream.streamStatus {
            case .atEnd, .closed, .error: throw OperationFailure(.disconnected(stream.streamError))
            default: try await ready.value {}
            }
        }
    }

    /// Registers the waiter of the stream's next event, before the stream is read or written.
    private func begin(_ ready: Waiter<Void>, _ line: WritableKeyPath<State, Line>) -> CBL2CAPChannel? {
        withState { state in
            guard !state.isClosed else { return nil }
            state[keyPath: line].ready = ready
            return state.channel
        }
    }

    /// Handles a stream event.
    func wake() {
        let ready = withState { state in
            defer {
                state.readers.ready = nil
                state.writers.ready = nil
            }
            return [state.readers.ready, state.writers.ready]
        }
        for waiter in ready { waiter?.finish(.success(())) }
    }

    func close() {
        let channel = withState { state -> CBL2CAPChannel? in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return state.channel
        }
        guard let channel else { return }
        for stream in [channel.inputStream as Stream?, channel.outputStream as Stream?].compactMap({ $0 }) {
            StreamLoop.shared.remove(stream)
            stream.close()
        }
        wake()
    }

    // MARK: Turns

    private func takeTurn(_ line: WritableKeyPath<State, Line>) async throws {
        try Task.checkCancellation()
        let waiter = Waiter<Void>()
        let isFree = withState { state -> Bool in
            if !state[keyPath: line].isTaken {
                state[keyPath: line].isTaken = true
                return true
            }
            state[keyPath: line].waiters.append(waiter)
            return false
        }
        guard !isFree else { return }
        let line = Unchecked(line)
        try await waiter.value { withState { $0[keyPath: line.value].waiters.removeAll { $0 === waiter } } }
    }

    private func endTurn(_ line: WritableKeyPath<State, Line>) {
        while true {
            let next = withState { state -> Waiter<Void>? in
                guard !state[keyPath: line].waiters.isEmpty else {
                    state[keyPath: line].isTaken = false
                    return nil
                }
                return state[keyPath: line].waiters.removeFirst()
            }
            // A waiter that was cancelled meanwhile is skipped.
            guard let next, !next.finish(.success(())) else { return }
        }
    }
}

/// The streams' delegate, on the run loop's thread.
private final class StreamEventForwarder: NSObject, StreamDelegate, Sendable {
    private let target = Lock<WeakPump>(WeakPump())

    private struct WeakPump {
        weak var pump: StreamPump?
    }

    var pump: StreamPump? {
        get { target.withLock { $0.pump } }
        set { target.withLock { $0.pump = newValue } }
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) { pump?.wake() }
}
