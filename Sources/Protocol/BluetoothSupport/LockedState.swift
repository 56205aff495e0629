/// A lock around a value that is not `Sendable`, such as one that contains objects of an app.
///
/// Never held while app code runs. The caller uses a value that leaves the lock by the value's own rule: objects of
/// CoreBluetooth may be called from any thread, and an app's delegate is called on the manager's queue.
public struct LockedState<State>: ~Copyable, Sendable {
    @usableFromInline let lock: Lock<Unchecked<State>>

    /// Creates a lock around a value.
    @inlinable
    public init(_ state: State) { lock = Lock(Unchecked(state)) }

    /// Runs `body` with exclusive access to the value.
    @inlinable
    public borrowing func withLock<Result, E: Error>(_ body: (inout State) throws(E) -> Result) throws(E) -> Result {
        try lock.withLock { (state) throws(E) in Unchecked(try body(&state.value)) }.value
    }
}
