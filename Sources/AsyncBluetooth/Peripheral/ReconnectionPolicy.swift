import Foundation

/// How long to wait before the next attempt at a connection, and how many attempts to make.
public struct ReconnectionPolicy: Hashable, Sendable {
    /// The wait after the first failure, or a lost link, before jitter.
    public let initial: Duration
    /// The longest wait.
    public let maximum: Duration
    /// By what each wait is longer than the one before it, 1 or more.
    public let factor: Double
    /// The share of each wait that chance may take away, 0...1.
    public let jitter: Double
    /// The most failures in a row, 1 or more; nil for no limit.
    public let attempts: Int?
    /// Where the numbers of the jitter begin; nil for the device's identifier.
    public let seed: UInt64?

    /// Waits that grow with each failure and begin anew with a link.
    ///
    /// Each wait is shortened by a random part, so that many devices that were lost at once do not come back at once. The
    /// random numbers follow from a seed: the same program waits equally long in each run.
    ///
    /// - Parameters:
    ///   - initial: The wait after the first failure, or a lost link.
    ///   - maximum: The longest wait.
    ///   - factor: By what each wait is longer than the one before it; less than 1 is taken as 1.
    ///   - jitter: The largest share of a wait by which it is shortened, 0...1; what is outside is taken as the next bound.
    ///   - attempts: How many attempts may fail in a row before it ends; nil for no limit, less than 1 is taken as 1.
    ///   - seed: Where the random numbers begin; nil for the device's identifier, so that each device waits differently.
    public static func backoff(
        initial: Duration = .milliseconds(500), maximum: Duration = .seconds(30), factor: Double = 2,
        jitter: Double = 0.2, attempts: Int? = nil, seed: UInt64? = nil
    ) -> ReconnectionPolicy {
        let initial = max(.zero, initial)
        return ReconnectionPolicy(
            initial: initial, maximum: max(initial, maximum), factor: factor >= 1 ? factor : 1,
            jitter: jitter >= 0 ? min(jitter, 1) : 0, attempts: attempts.map { max(1, $0) }, seed: seed)
    }

    /// The wait after so many failures in a row, from 0.
    func delay(after failures: Int, using random: inout some RandomNumberGenerator) -> Duration {
        var delay = initial
        for _ in 0..<failures where delay < maximum { delay = delay * factor }
        delay = min(delay, maximum)
        return jitter == 0 ? delay : delay * (1 - Double.random(in: 0...jitter, using: &random))
    }

    /// The random numbers for a device.
    func makeGenerator(for device: UUID) -> JitterGenerator {
        let bytes = device.uuid
        let low = withUnsafeBytes(of: bytes) { $0.loadUnaligned(as: UInt64.self) }
        let high = withUnsafeBytes(of: bytes) { $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
        return JitterGenerator(seed: seed ?? low ^ high)
    }
}

/// A stream of numbers that follows from a seed.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", SplitMix64.
struct JitterGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
