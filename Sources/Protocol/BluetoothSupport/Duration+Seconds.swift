extension Duration {
    /// The duration in seconds, with a precision of nanoseconds.
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (nanoseconds, overflowed) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || overflowed ? Double(seconds) : Double(nanoseconds) / 1e9
    }
}
