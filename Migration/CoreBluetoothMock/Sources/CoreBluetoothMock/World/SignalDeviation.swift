/// A uniform random variation of signal strengths, from a seed.
struct SignalDeviation {
    private var generator: SplitMix64

    /// - Parameters:
    ///   - seed: The seed of the world.
    ///   - stream: The number of the manager, so that the numbers of one manager do not affect those of another.
    init(seed: UInt64, stream: UInt64) { generator = SplitMix64(state: seed ^ stream &* 0x9E37_79B9_7F4A_7C15) }

    /// Returns a signal strength within a deviation, -127...20 dBm; 127 (not available) stays.
    mutating func vary(_ rssi: Int, by deviation: Int) -> Int {
        guard deviation > 0, rssi != 127 else { return rssi }
        let bound = min(deviation, 127)
        return max(-127, min(20, rssi + Int.random(in: -bound...bound, using: &generator)))
    }
}

/// The generator of Vigna, "Further scramblings of Marsaglia's xorshift generators".
private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
