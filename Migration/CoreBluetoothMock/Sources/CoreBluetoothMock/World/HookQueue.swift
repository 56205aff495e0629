import Dispatch

/// A queue that calls the hooks of a world one at a time, while no lock is held.
///
/// A hook that causes a call of another one, as `simulateReset()` does, calls it within itself.
final class HookQueue: Sendable {
    private let queue = DispatchQueue(label: "CoreBluetoothMock hooks")
    private let key = DispatchSpecificKey<ObjectIdentifier>()

    init() { queue.setSpecific(key: key, value: ObjectIdentifier(self)) }

    private var isInHook: Bool { DispatchQueue.getSpecific(key: key) == ObjectIdentifier(self) }

    /// Calls a hook, and waits for it.
    func run<Result>(_ hook: () -> Result) -> Result { isInHook ? hook() : queue.sync(execute: hook) }

    /// Calls a hook later.
    func enqueue(_ hook: @escaping () -> Void) {
        let hook = HandedOver(hook)
        queue.async { hook.value() }
    }
}

/// A closure of a test that is called by another thread.
struct HandedOver<Closure>: @unchecked Sendable {
    // Invariant: the thread that passes it on no longer calls it.
    let value: Closure
    init(_ value: Closure) { self.value = value }
}
