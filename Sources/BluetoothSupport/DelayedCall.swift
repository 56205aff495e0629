import Synchronization

/// A call that can be cancelled until it is made.
package final class DelayedCall: Sendable {
    private let body: Lock<(@Sendable () -> Void)?>

    package init(_ body: @escaping @Sendable () -> Void) { self.body = Lock(body) }

    package func fire() { take()?() }

    package func cancel() { _ = take() }

    private func take() -> (@Sendable () -> Void)? {
        body.withLock { body in
            defer { body = nil }
            return body
        }
    }
}
