import Dispatch
import Foundation

/// The signals SIGTERM and SIGINT, as a sequence.
package enum TerminationSignals {
    /// Returns the signals from now on, which no longer end the process by themselves.
    ///
    /// - Parameter limit: The time after the first signal at which the process ends with status 1, unless it has ended
    ///   before.
    package static func sequence(limit: Duration) -> AsyncStream<Int32> {
        AsyncStream(bufferingPolicy: .bufferingNewest(2)) { continuation in
            let sources = [SIGTERM, SIGINT].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number)
                source.setEventHandler {
                    continuation.yield(number)
                    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Int(limit.components.seconds))) {
                        FileHandle.standardError.write(Data("the gateway did not stop within \(limit)\n".utf8))
                        _exit(1)
                    }
                }
                source.resume()
                return Uncancelled(source)
            }
            continuation.onTermination = { _ in for source in sources { source.source.cancel() } }
        }
    }

    /// A box that passes a signal source to another thread.
    ///
    /// Invariant of `@unchecked Sendable`: sources may be cancelled from any thread, and this one is not used
    /// otherwise.
    private struct Uncancelled: @unchecked Sendable {
        let source: any DispatchSourceSignal

        init(_ source: any DispatchSourceSignal) { self.source = source }
    }
}
