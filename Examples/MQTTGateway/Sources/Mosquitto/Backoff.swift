/// The waits between attempts to connect: 0.5, 1, 2, … 15 seconds.
///
/// If two clients have the same identifier, a broker accepts each connection, and ends the other one. An accepted
/// connection therefore shortens the next wait only if it lasted.
package struct Backoff: Sendable {
    /// The longest wait, which is also the minimum lifetime of a connection for the shortest wait to follow.
    package static let limit = Duration.seconds(15)

    private var failures = 0

    package init() {}

    /// Returns the next wait, shortened by a random part, because gateways lose the broker together.
    ///
    /// - Parameter lifetime: The lifetime of the connection after the broker accepted it; nil if it did not.
    package mutating func next(after lifetime: Duration?) -> ClosedRange<Duration> {
        if let lifetime, lifetime >= Self.limit { failures = 0 }
        let longest = min(Self.limit, .milliseconds(500 << min(failures, 5)))
        failures += 1
        return longest / 2...longest
    }
}
