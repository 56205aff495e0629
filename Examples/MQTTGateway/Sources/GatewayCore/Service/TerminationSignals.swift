import Dispatch
import Foundation

/// SIGTERM and SIGINT, as a sequence.
package enum TerminationSignals {
    /// The signals from now on; they no longer end the process by themselves.
    package static func sequence() -> AsyncStream<Int32> {
        AsyncStream(bufferingPolicy: .bufferingNewest(2)) { continuation in
            let sources = [SIGTERM, SIGINT].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number)
                source.setEventHandler { continuation.yield(number) }
                source.resume()
                return Uncancelled(source)
            }
            continuation.onTermination = { _ in for source in sources { source.source.cancel() } }
        }
    }

    /// Invariant of `@unchecked Sendable`: sources may be cancelled from any thread, and nothing else is done with this one.
    private struct Uncancelled: @unchecked Sendable {
        let source: any DispatchSourceSignal

        init(_ source: any DispatchSourceSignal) { self.source = source }
    }
}
