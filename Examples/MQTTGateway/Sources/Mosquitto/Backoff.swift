/// The waits between attempts to connect: 0.5, 1, 2, … 15 seconds.
///
/// A broker accepts each connection of two clients with one identifier, and ends the other one. So an accepted
/// connection shortens the next wait only if it lasted.
package struct Backoff: Sendable {
    /// The longest wait, and how long a connection must last for the shortest one to follow.
    package static let limit = Duration.seconds(15)

    private var failures = 0

    package init() {}

    /// The next wait, less than its upper bound by a random part: gateways that lost the broker together.
    ///
    /// - Parameter lifetime: How long the connection lasted after the broker accepted it; nil if it did not.
    package mutating func next(after lifetime: Duration?) -> ClosedRange<Duration> {
        if let lifetime, lifetime >= Self.limit { failures = 0 }
        let longest = min(Self.limit, .milliseconds(500 << min(failures, 5)))
        failures += 1
        return longest / 2...longest
    }
}
