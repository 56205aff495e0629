/// Time inside the world: nanoseconds since its beginning, or between two instants.
///
/// A 64-bit integer compares in one instruction where `Duration` needs two words; it lasts 292 years.
typealias Nanoseconds = Int64

extension Duration {
    /// The whole nanoseconds of this duration, clamped to what 64 bits hold.
    var nanoseconds: Nanoseconds {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, overflowed) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflowed ? (seconds < 0 ? .min : .max) : sum
    }
}
