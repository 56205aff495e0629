#if os(Linux)
/// The calls of a machine that are in flight, with the reason of each.
struct CallTable<Purpose: Sendable>: Sendable {
    var purposes: [CallID: Purpose] = [:]
    private var lastNumber: UInt64 = 0

    /// A number that was not given before.
    mutating func newNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func add(_ purpose: Purpose) -> CallID {
        let id = CallID(number: newNumber())
        purposes[id] = purpose
        return id
    }

    /// The purpose of a call that was answered; nil for what a lost daemon or adapter left behind.
    mutating func remove(_ id: CallID) -> Purpose? { purposes.removeValue(forKey: id) }

    /// Forgets all calls; replies that come yet have no purpose.
    mutating func removeAll() { purposes = [:] }
}
#endif
