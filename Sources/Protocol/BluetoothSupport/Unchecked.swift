/// A wrapper that passes on a value that is not `Sendable`, which a lock or a queue protects.
///
/// It is the package's only way to pass on such a value safely without the compiler's help; classes that are safe by
/// their own rule declare that themselves.
public struct Unchecked<Value>:
    // Invariant: the creator names the lock or the queue that protects the value. Objects of an app (delegates) are
    // only passed on, and called on the manager's queue; those of CoreBluetooth may be called from any thread.
    @unchecked Sendable
{
    /// The wrapped value.
    public var value: Value

    /// Wraps a value.
    @inlinable
    public init(_ value: Value) { self.value = value }
}
