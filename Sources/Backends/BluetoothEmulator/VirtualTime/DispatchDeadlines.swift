import DequeModule

/// The values of Dispatch's time that a world's code has read or computed, with their points of virtual time.
///
/// Such a value is a reading of the machine's clock, since it may also limit a wait of a thread, and differs in each run.
/// Its point of virtual time does not.
///
/// Pure.
struct DispatchDeadlines: Sendable {
    /// A value of `dispatch_time_t`.
    typealias Value = UInt64

    /// The clock to which a value belongs.
    enum Clock: Sendable {
        /// The clock of `DispatchTime`, in nanoseconds.
        case uptime
        /// The clock of `DispatchWallTime`, in negated nanoseconds.
        case wall

        /// Returns nil for `distantFuture`, and for the clock that Swift does not use.
        ///
        /// Source: `libdispatch/src/shims/time.h`, `_dispatch_time_to_clock_and_value`.
        init?(_ value: Value) {
            switch value >> 62 {
            case 0, 1: self = .uptime
            case 3 where value != .max: self = .wall
            default: return nil
            }
        }

        /// The time from one value of the clock to another.
        func duration(from value: Value, to other: Value) -> Duration {
            let difference = Int64(bitPattern: other &- value)
            return .nanoseconds(self == .uptime ? difference : 0 - difference)
        }
    }

    /// The number of values that are remembered; the oldest ones beyond that are forgotten.
    static let limit = 10_000

    private var points: [Value: Duration] = [:]
    private var order = Deque<Value>()
    private var readings: [Clock: (value: Value, point: Duration)] = [:]

    /// Remembers a reading of a clock.
    mutating func read(_ value: Value, at point: Duration) {
        guard let clock = Clock(value) else { return }
        readings[clock] = (value, point)
        remember(value, at: point)
    }

    /// Remembers the sum of a known value and a duration.
    mutating func add(_ duration: Duration, to value: Value, giving sum: Value) {
        guard Clock(sum) != nil, let point = points[value] else { return }
        remember(sum, at: point + duration)
    }

    private mutating func remember(_ value: Value, at point: Duration) {
        if points.updateValue(point, forKey: value) == nil { order.append(value) }
        if order.count > Self.limit, let oldest = order.popFirst() { points[oldest] = nil }
    }

    /// Returns the point of virtual time of a value; of one that was computed elsewhere, by its distance from the last
    /// reading of its clock.
    ///
    /// - Returns: nil for a value of a clock that was not read.
    func point(of value: Value) -> Duration? {
        if let point = points[value] { return point }
        guard let clock = Clock(value), let reading = readings[clock] else { return nil }
        return reading.point + clock.duration(from: reading.value, to: value)
    }
}
