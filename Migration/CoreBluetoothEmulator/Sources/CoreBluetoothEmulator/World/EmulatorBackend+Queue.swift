import BluetoothEmulator
import Dispatch
import Foundation

extension EmulatorBackend {
    /// Calls `body` on a queue after a time of this world; virtual time waits for its end.
    func call(on queue: DispatchQueue, after delay: TimeInterval = 0, _ body: @escaping () -> Void) {
        let (clock, call) = (clock, UncheckedCall(body: body))
        let begin: @Sendable () -> Void = {
            clock.enqueue { finish in
                queue.async {
                    clock.withTaskContext(call.body)
                    finish()
                }
            }
        }
        guard delay > 0 else { return begin() }
        clock.schedule(after: .time(delay), begin)
    }
}

/// A closure that is called once.
// Invariant: its creator passes it to one queue and keeps none of the captured values that are not thread-safe.
private struct UncheckedCall: @unchecked Sendable {
    let body: () -> Void
}
