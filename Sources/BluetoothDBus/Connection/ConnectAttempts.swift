#if os(Linux)
/// The calls of `connect(2)` of this process that have not returned.
///
/// Pure. Such a call blocks while the bus does not accept connections, and cannot be cancelled. A late call is
/// therefore left running, and no other call to its address begins until it returns.
struct ConnectAttempts: Sendable {
    typealias Number = UInt64

    private struct Attempt: Sendable {
        let address: String
        var isLate = false
    }

    private var attempts: [Number: Attempt] = [:]
    private var last: Number = 0

    /// Records an attempt; nil if a late one is still running.
    mutating func begin(_ address: String) -> Number? {
        guard !attempts.values.contains(where: { $0.address == address && $0.isLate }) else { return nil }
        last += 1
        attempts[last] = Attempt(address: address)
        return last
    }

    /// Records that an attempt's deadline has passed.
    ///
    /// - Returns: Whether it is late; false if it has already returned.
    mutating func deadlinePassed(_ number: Number) -> Bool {
        attempts[number]?.isLate = true
        return attempts[number] != nil
    }

    /// Records that an attempt has returned.
    ///
    /// - Returns: Whether it was in time.
    mutating func end(_ number: Number) -> Bool { attempts.removeValue(forKey: number)?.isLate == false }
}
#endif
