extension Duration {
    /// The whole nanoseconds of this duration, clamped to 73 years.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        // The limit leaves room for several additions of instants and durations.
        let longest = Int64.max / 4
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow, abs(seconds) < longest / 1_000_000_000 else { return seconds < 0 ? -longest : longest }
        return whole + attoseconds / 1_000_000_000
    }
}
