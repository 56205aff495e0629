import BluetoothLocking
import Dispatch
import Foundation
import Synchronization

/// Ctrl-C and its like: the first stops cleanly, the second at once.
@MainActor
final class Signals {
    private var sources: [any DispatchSourceSignal] = []
    private let first = FirstSignal()

    /// Calls `stop` on the main actor at the first SIGINT, SIGTERM or SIGHUP, with its number.
    init(stop: @escaping @MainActor (Int32) -> Void) {
        // A reader of our output that leaves is an error of that write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // Not the main queue: a second Ctrl-C must work while the main actor is busy.
        let queue = DispatchQueue(label: "bluectl.signals")
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            let first = first
            source.setEventHandler { @Sendable in
                if !first.take() { _exit(128 + number) }
                Task { @MainActor in stop(number) }
            }
            source.resume()
            sources.append(source)
        }
    }

    /// The next signal is the first one again.
    func reset() { first.reset() }
}

/// Whether a signal is the first one.
private final class FirstSignal: Sendable {
    private let isTaken = Lock(false)

    /// - Returns: Whether there was none before.
    func take() -> Bool {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }

    func reset() { isTaken.withLock { $0 = false } }
}
