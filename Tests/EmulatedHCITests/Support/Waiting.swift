import BluetoothSupport
import Dispatch

/// The waits for a state that changes on one queue; each has a deadline.
// Invariant: all variables are used on `queue` only.
final class Waiting: @unchecked Sendable {
    struct Deadline: Error, CustomStringConvertible {
        let what: String

        var description: String { "waited in vain for \(what)" }
    }

    /// Longer than any wait that ends, on a busy machine too.
    private static let limit = DispatchTimeInterval.seconds(30)

    let queue: DispatchQueue
    private var waiters: [Int: (check: () -> Bool, fail: () -> Void)] = [:]
    private var lastNumber = 0

    init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Checks whether waits have come to an end; called on the queue after each change.
    func check() {
        for (number, waiter) in waiters where waiter.check() { waiters[number] = nil }
    }

    /// Waits until a value is there.
    ///
    /// - Parameter find: Called on the queue.
    func value<Value: Sendable>(_ what: String, _ find: @escaping @Sendable () -> Value?) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                if let value = find() { return continuation.resume(returning: value) }
                lastNumber += 1
                let number = lastNumber
                waiters[number] = (
                    check: {
                        guard let value = find() else { return false }
                        continuation.resume(returning: value)
                        return true
                    }, fail: { continuation.resume(throwing: Deadline(what: what)) }
                )
                queue.asyncAfter(deadline: .now() + Self.limit) { [self] in waiters.removeValue(forKey: number)?.fail()
                }
            }
        }
    }
}
