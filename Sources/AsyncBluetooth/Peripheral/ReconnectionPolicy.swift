/// How long to wait before the next attempt at a connection.
public struct ReconnectionPolicy: Hashable, Sendable {
    /// The wait after the first failure, or a lost link.
    public let initial: Duration
    /// The longest wait.
    public let maximum: Duration
    /// By what each wait is longer than the one before it, 1 or more.
    public let factor: Double

    /// Waits that grow with each failure and begin anew with a link.
    ///
    /// - Parameters:
    ///   - initial: The wait after the first failure, or a lost link.
    ///   - maximum: The longest wait.
    ///   - factor: By what each wait is longer than the one before it; less than 1 is taken as 1.
    public static func backoff(
        initial: Duration = .milliseconds(500), maximum: Duration = .seconds(30), factor: Double = 2
    ) -> ReconnectionPolicy {
        let initial = max(.zero, initial)
        return ReconnectionPolicy(initial: initial, maximum: max(initial, maximum), factor: max(1, factor))
    }

    /// The wait after so many failures in a row, from 0.
    func delay(after failures: Int) -> Duration {
        var delay = initial
        for _ in 0..<failures where delay < maximum { delay = delay * factor }
        return min(delay, maximum)
    }
}

/// What happens to a connection that is kept up.
public enum ConnectionEvent: Sendable {
    /// There is a link, and the notifications are subscribed to again.
    case connected
    /// An attempt failed; the next one follows.
    case failed(BluetoothError)
    /// The link ended; the next attempt follows.
    case disconnected(BluetoothError)
    /// The app called ``Peripheral/disconnect()``; nothing follows.
    case cancelled
}
