/// Carries a value that is not `Sendable` to where a lock or a queue keeps it safe.
// Invariant: whoever makes one says by which lock or queue the value is reached. App objects
// (delegates, `CBPeripheral`) are only carried; their methods are called on the manager's queue alone.
struct Unchecked<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}
