import Dispatch
import Foundation

/// Ctrl-C and its like: the first stops cleanly, the second at once.
@MainActor
final class Signals {
    private var sources: [any DispatchSourceSignal] = []

    /// Calls `stop` on the main actor at the first SIGINT, SIGTERM or SIGHUP.
    init(stop: @escaping @MainActor () -> Void) {
        // A reader of our output that leaves is an error of that write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // Not the main queue: a second Ctrl-C must work while the main actor is busy.
        let queue = DispatchQueue(label: "bluectl.signals")
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            // Invariant: the handler runs on one serial queue.
            nonisolated(unsafe) var hasStopped = false
            source.setEventHandler { @Sendable in
                if hasStopped { _exit(128 + number) }
                hasStopped = true
                Task { @MainActor in stop() }
            }
            source.resume()
            sources.append(source)
        }
    }
}
