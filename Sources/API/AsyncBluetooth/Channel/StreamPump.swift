import BluetoothSupport
import CoreBluetooth

#if !canImport(Darwin)
import CoreBluetoothClasses
#endif

/// Moves bytes between tasks and a channel's streams, whose delegate it is, on the run loop's thread.
final class StreamPump: NSObject, StreamDelegate, Sendable {
    private struct State {
        let channel: CBL2CAPChannel
        var isClosed = false
        /// The waiters of the tasks that use the streams.
        var reader: Waiter<Void>?
        var writer: Waiter<Void>?
    }

    private let state: LockedState<State>
    private let reading = TurnQueue()
    private let writing = TurnQueue()

    init(_ channel: Unchecked<CBL2CAPChannel>) {
        state = LockedState(State(channel: channel.value))
        super.init()
        StreamLoop.shared.add(channel.value)
        for stream in channel.value.streams {
            stream.delegate = self
            stream.open()
        }
    }

    /// Whether the channel is known to have ended with its link.
    var hasLostLink: Bool {
        #if !canImport(Darwin)
        state.withLock { $0.channel.hasLostLink }
        #else
        false
        #endif
    }

    // MARK: Bytes

    func read(upTo maximum: Int) async throws -> Data? {
        try await reading.begin()
        defer { reading.end() }
        while true {
            let ready = Waiter<Void>()
            guard let stream = begin(ready, \.reader)?.inputStream else { throw OperationFailure(.cancelled) }
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
        try await writing.begin()
        defer { writing.end() }
        var rest = [UInt8](data)[...]
        while !rest.isEmpty {
            let ready = Waiter<Void>()
            guard let stream = begin(ready, \.writer)?.outputStream else { throw OperationFailure(.cancelled) }
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
    private func begin(_ ready: Waiter<Void>, _ user: WritableKeyPath<State, Waiter<Void>?>) -> CBL2CAPChannel? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state[keyPath: user] = ready
            return state.channel
        }
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) { wake() }

    private func wake() {
        let ready = state.withLock { [$0.reader.take(), $0.writer.take()] }
        for waiter in ready { waiter?.finish(.success(())) }
    }

    func close() {
        let channel = state.withLock { state -> CBL2CAPChannel? in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            return state.channel
        }
        guard let channel else { return }
        StreamLoop.shared.remove(channel)
        for stream in channel.streams { stream.close() }
        wake()
    }
}

extension CBL2CAPChannel {
    var streams: [Stream] { [inputStream as Stream?, outputStream as Stream?].compactMap { $0 } }
}
