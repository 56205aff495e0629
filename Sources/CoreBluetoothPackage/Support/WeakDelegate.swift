import BluetoothLocking
import Synchronization

/// A weak reference to a delegate, which any thread may set and read.
///
/// A plain `weak var` is not safe to set while another thread reads it.
final class WeakDelegate<Delegate>: Sendable {
    // Invariant of `@unchecked`: the reference is only carried; the delegate is called on the manager's queue alone.
    private struct Reference: @unchecked Sendable {
        weak var object: AnyObject?
    }

    private let reference = Lock(Reference())

    /// The delegate, if it is alive.
    ///
    /// The load's strong reference ends with the caller, outside the lock.
    var delegate: Delegate? {
        let loaded = reference.withLock { $0 }
        return loaded.object as? Delegate
    }

    /// Replaces the delegate.
    func set(_ delegate: Delegate?) {
        let new = Reference(object: delegate as AnyObject?)
        reference.withLock { $0 = new }
    }
}
