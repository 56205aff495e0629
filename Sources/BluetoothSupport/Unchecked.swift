/// Carries a value that is not `Sendable` to where a lock or a queue keeps it safe.
///
/// The package's one way to say "this is safe, though the compiler cannot see why" of a value that is passed on: classes
/// that are safe by their own rule say so themselves.
public struct Unchecked<Value>:
    // Invariant: whoever makes one says by which lock or queue the value is reached. Objects of an app (delegates) are only
    // carried, and called on the manager's queue; those of CoreBluetooth may be called from any thread, by its own rule.
    @unchecked Sendable
{
    /// What is carried.
    public var value: Value

    /// Takes a value up.
    @inlinable
    public init(_ value: Value) { self.value = value }
}
