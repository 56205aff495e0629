extension Duration {
    /// The nearest number of seconds to the nanoseconds.
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds * 1_000_000_000 + attoseconds / 1_000_000_000) / 1e9
    }
}
