#if os(Linux)
/// The calls of `connect(2)` of this process that have not returned.
///
/// Pure. Such a call blocks while the bus does not take its connections, and cannot be ended. So a late one is left alone,
/// and there is no other one for its address until it returns.
struct ConnectAttempts: Sendable {
    typealias Number = UInt64

    private struct Attempt: Sendable {
        let address: String
        var isLate = false
    }

    private var attempts: [Number: Attempt] = [:]
    private var last: Number = 0

    /// Notes an attempt; nil where a late one blocks the way.
    mutating func begin(_ address: String) -> Number? {
        guard !attempts.values.contains(where: { $0.address == address && $0.isLate }) else { return nil }
        last += 1
        attempts[last] = Attempt(address: address)
        return last
    }

    /// Notes that an attempt's deadline has passed.
    ///
    /// - Returns: Whether it is late; else it has returned before.
    mutating func deadlinePassed(_ number: Number) -> Bool {
        attempts[number]?.isLate = true
        return attempts[number] != nil
    }

    /// Notes that an attempt has returned.
    ///
    /// - Returns: Whether it was in time.
    mutating func end(_ number: Number) -> Bool { attempts.removeValue(forKey: number)?.isLate == false }
}
#endif
