extension Duration {
    /// The duration with its unit, and at most three digits after the point: `2 s`, `7.5 ms`.
    package var words: String {
        let units: [(name: String, seconds: Double)] = [
            ("h", 3_600), ("min", 60), ("s", 1), ("ms", 1e-3), ("us", 1e-6),
        ]
        let seconds = inSeconds
        guard let unit = units.first(where: { abs(seconds) >= $0.seconds }) else { return "0 s" }
        let number = (seconds / unit.seconds * 1_000).rounded() / 1_000
        return (Int(exactly: number).map { "\($0)" } ?? "\(number)") + " \(unit.name)"
    }
}
