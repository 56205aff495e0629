/// A call that can be cancelled until it runs.
package final class DelayedCall: Sendable {
    private let body: Lock<(@Sendable () -> Void)?>

    package init(_ body: @escaping @Sendable () -> Void) { self.body = Lock(body) }

    package func fire() { removeBody()?() }

    package func cancel() { _ = removeBody() }

    private func removeBody() -> (@Sendable () -> Void)? {
        body.withLock { body in
            defer { body = nil }
            return body
        }
    }
}
