import BluetoothLocking
import CoreBluetooth
import Synchronization

/// The run loop in which the streams of all channels tell what happens.
///
/// Foundation's streams need one; tasks have none. One thread serves the process, and sleeps while nothing happens.
final class StreamLoop: Sendable {
    static let shared = StreamLoop()

    private let loop: Unchecked<RunLoop>

    private init() {
        let place = Place()
        let thread = Thread { place.serve() }
        thread.name = "AsyncBluetooth streams"
        thread.start()
        loop = place.wait()
    }

    /// Lets a stream tell its delegate here.
    func add(_ stream: Stream) { stream.schedule(in: loop.value, forMode: .default) }

    /// Takes a stream out.
    func remove(_ stream: Stream) { stream.remove(from: loop.value, forMode: .default) }

    /// Where the thread leaves its run loop.
    private final class Place: Sendable {
        private let isStarted = DispatchSemaphore(value: 0)
        private let loop = Lock<Unchecked<RunLoop>?>(nil)

        func serve() {
            let current = Unchecked(RunLoop.current)
            // A loop without a source would end at once.
            current.value.add(
                Timer(fire: .distantFuture, interval: .greatestFiniteMagnitude, repeats: true) { _ in },
                forMode: .default)
            loop.withLock { $0 = current }
            isStarted.signal()
            while true { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
        }

        func wait() -> Unchecked<RunLoop> {
            isStarted.wait()
            guard let loop = loop.withLock({ $0 }) else { preconditionFailure("the thread has a run loop") }
            return loop
        }
    }
}
