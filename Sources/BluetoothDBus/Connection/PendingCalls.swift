#if os(Linux)
/// Which calls wait for a reply, by serial number, and until when.
///
/// Pure.
///
/// The serial is entered before the message is sent, so a reply can never be faster than its entry. (With
/// libdbus's `DBusPendingCall` a reply may arrive before `set_notify` and is then lost.)
struct PendingCalls<Completion: Sendable>: Sendable {
    /// One waiting call.
    struct Entry: Sendable {
        /// Who was asked.
        let destination: String
        /// On the monotonic clock, in nanoseconds.
        let deadline: UInt64
        let completion: Completion
    }

    /// What a sweep found.
    struct Due: Sendable {
        let expired: [Entry]
        let nextSweep: UInt64?
    }

    private var entries: [UInt32: Entry] = [:]
    private var lastSerial: UInt32 = 0
    /// When the sweep is set to run; `nil` while it is not.
    private var sweep: UInt64?

    var count: Int { entries.count }

    /// A serial number that no waiting call has.
    ///
    /// Never zero.
    mutating func nextSerial() -> UInt32 {
        repeat { lastSerial &+= 1 } while lastSerial == 0 || entries[lastSerial] != nil
        return lastSerial
    }

    /// Enters a call.
    ///
    /// - Returns: When the sweep must run, if that is sooner than it is set to.
    mutating func insert(_ entry: Entry, serial: UInt32) -> UInt64? {
        entries[serial] = entry
        if let sweep, sweep <= entry.deadline { return nil }
        sweep = entry.deadline
        return entry.deadline
    }

    /// Takes out the call that a reply answers.
    ///
    /// - Parameter sender: Who the bus says replied. A call to a unique name is answered by that name or, when it is
    ///   gone, by the bus; a reply from anybody else is not the reply.
    mutating func take(_ serial: UInt32, from sender: String?) -> Entry? {
        guard let index = entries.index(forKey: serial) else { return nil }
        let entry = entries.values[index]
        if DBusName.isUnique(entry.destination), sender != entry.destination, sender != BusDriver.name { return nil }
        entries.remove(at: index)
        return entry
    }

    /// Takes out a call that could not be sent.
    mutating func remove(_ serial: UInt32) -> Entry? {
        entries.removeValue(forKey: serial)
    }

    /// Takes out the calls whose deadline has passed, oldest serial first, and says when to sweep next.
    mutating func expire(now: UInt64) -> Due {
        let due = entries.filter { $0.value.deadline <= now }
        for serial in due.keys { entries[serial] = nil }
        sweep = entries.values.map(\.deadline).min()
        return Due(expired: due.sorted { $0.key < $1.key }.map(\.value), nextSweep: sweep)
    }

    /// Takes out all, oldest serial first: the connection is gone.
    mutating func removeAll() -> [Entry] {
        defer { entries = [:] }
        return entries.sorted { $0.key < $1.key }.map(\.value)
    }
}
#endif
