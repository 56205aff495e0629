import BluetoothSupport
import FlyingFox
import FlyingSocks

/// The events of a log as lines of JSON, from one event on: without an end, or only the next ones.
struct EventBytes: AsyncBufferedSequence {
    typealias Element = UInt8

    let log: EventLog
    let sequence: UInt64
    let isOnce: Bool
    let place: StreamCount.Place

    func makeAsyncIterator() -> Iterator { Iterator(log: log, sequence: sequence, isOnce: isOnce, place: place) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        let log: EventLog
        var sequence: UInt64
        let isOnce: Bool
        var isOver = false
        /// The place of the stream, held until it ends.
        let place: StreamCount.Place

        mutating func next() async throws -> UInt8? {
            preconditionFailure("the lines are read by nextBuffer(suggested:)")
        }

        /// Returns the next lines: events, or a heartbeat if the log was woken without one.
        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            guard !isOver else { return nil }
            isOver = isOnce
            var events = log.events(after: sequence)
            if events.isEmpty {
                guard await log.wait(after: sequence) else { return nil }
                events = log.events(after: sequence)
            }
            if let last = events.last?.sequence { sequence = last }
            var bytes: [UInt8] = []
            for event in events.isEmpty ? [LiveEvent(.heartbeat)] : events {
                bytes += try event.jsonLine()
                bytes.append(UInt8(ascii: "\n"))
            }
            return bytes
        }
    }
}

/// The number of event streams.
final class StreamCount: Sendable {
    /// The place of a stream, until it is released.
    final class Place: Sendable {
        private let streams: StreamCount

        fileprivate init(_ streams: StreamCount) { self.streams = streams }

        deinit { streams.count.withLock { $0 -= 1 } }
    }

    private let count = Lock(0)

    /// Begins a stream; nil at the limit.
    func open(limit: Int) -> Place? {
        let isFree = count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        return isFree ? Place(self) : nil
    }
}
