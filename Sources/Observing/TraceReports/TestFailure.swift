/// The failure of a test, with which a page begins.
package struct TestFailure: Hashable, Sendable {
    /// The expected callbacks, or the message of another failure.
    package var what: String
    /// The place in the source: `FinderTests.swift:12`.
    package var location: String
    /// The time at which the test began to wait; the end if it waited for nothing.
    package var begin: Duration
    /// The time of the failure.
    package var end: Duration
    /// The callbacks that came instead, in their order; nil if the test expected none.
    package var came: [String]?
    /// The reason in one sentence; nil if the trace does not show it.
    package var cause: String?
    /// The incidents of the history under which the test ran, in words; empty without one.
    package var history: [String] = []

    package init(
        _ what: String, at location: String, from begin: Duration, to end: Duration, came: [String]? = nil,
        cause: String? = nil
    ) {
        (self.what, self.location, self.begin, self.end, self.came, self.cause) = (
            what, location, begin, end, came, cause
        )
    }
}
