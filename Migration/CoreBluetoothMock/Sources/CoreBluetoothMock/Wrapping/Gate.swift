import Foundation

/// The owner of a bridge, which is there once its initializer has run.
///
/// A manager may call its delegate on another thread before the initializer of the wrapper has returned; such a call waits
/// here for the moment that this takes.
final class Gate<Owner: AnyObject>: @unchecked Sendable {
    // Invariant: `owner` is reached under `lock`, which the thread that made the gate holds until it opens it.
    private let lock = NSLock()
    private weak var owner: Owner?

    /// A closed gate.
    init() { lock.lock() }

    /// Opens the gate, on the thread that made it.
    func open(for owner: Owner) {
        self.owner = owner
        lock.unlock()
    }

    /// The owner, if it is alive.
    var present: Owner? {
        lock.lock()
        defer { lock.unlock() }
        return owner
    }
}
