#if os(Linux)
/// The calls that wait for a reply, by serial number, with their deadlines.
///
/// Pure.
///
/// The owner sends and inserts a call under the lock under which it takes replies, so no reply is handled before the
/// entry exists. (With libdbus's `DBusPendingCall`, a reply may arrive before `set_notify` and is then lost.)
struct PendingCalls<Completion: Sendable>: Sendable {
    /// A call that waits for its reply.
    struct Entry: Sendable {
        /// The bus name that was called.
        let destination: String
        /// The instant on the monotonic clock, in nanoseconds.
        let deadline: UInt64
        let completion: Completion
    }

    private var entries: [UInt32: Entry] = [:]
    private var lastSerial: UInt32 = 0
    /// The instant at which the sweep runs; `nil` if none is scheduled.
    private var sweep: UInt64?

    /// A serial number that no waiting call uses.
    ///
    /// Never zero.
    mutating func nextSerial() -> UInt32 {
        repeat { lastSerial &+= 1 } while lastSerial == 0 || entries[lastSerial] != nil
        return lastSerial
    }

    /// Inserts a call.
    ///
    /// - Returns: The instant at which the sweep must run, if it is earlier than scheduled.
    mutating func insert(_ entry: Entry, serial: UInt32) -> UInt64? {
        entries[serial] = entry
        if let sweep, sweep <= entry.deadline { return nil }
        sweep = entry.deadline
        return entry.deadline
    }

    /// Removes the call that a reply answers.
    ///
    /// - Parameter sender: The sender of the reply, according to the bus. Only that name itself or, after it has left,
    ///   the bus may answer a call to a unique name; other replies are ignored.
    mutating func removeCall(_ serial: UInt32, from sender: String?) -> Entry? {
        guard let index = entries.index(forKey: serial) else { return nil }
        let entry = entries.values[index]
        if DBusName.isUnique(entry.destination), sender != entry.destination, sender != BusDriver.name { return nil }
        entries.remove(at: index)
        return entry
    }

    /// Removes the calls whose deadlines have passed, oldest serial first, and returns when to sweep next.
    mutating func expire(now: UInt64) -> (expired: [Entry], nextSweep: UInt64?) {
        let due = entries.filter { $0.value.deadline <= now }
        for serial in due.keys { entries[serial] = nil }
        sweep = entries.values.map(\.deadline).min()
        return (due.sorted { $0.key < $1.key }.map(\.value), sweep)
    }

    /// Removes all calls, oldest serial first, after the connection was closed.
    mutating func removeAll() -> [Entry] {
        exchange(&entries, with: [:]).sorted { $0.key < $1.key }.map(\.value)
    }
}
#endif
