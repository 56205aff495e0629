/// A call that can be cancelled until it runs.
package final class DelayedCall: Sendable {
    private let body: Lock<(@Sendable () -> Void)?>

    package init(_ body: @escaping @Sendable () -> Void) { self.body = Lock(body) }

    package func fire() { removeBody()?() }

    package func cancel() { _ = removeBody() }

    /// Cancels the call.
    ///
    /// - Returns: Whether the call had neither run nor been cancelled.
    package func claim() -> Bool { removeBody() != nil }

    private func removeBody() -> (@Sendable () -> Void)? { body.withLock { $0.take() } }
}
