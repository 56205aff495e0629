import Dispatch

/// Calls the hooks of a world one at a time, with no lock held.
///
/// A hook that causes another one to be called, as `simulateReset()` does, calls it within itself.
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

/// A closure of a test that another thread calls.
struct HandedOver<Closure>: @unchecked Sendable {
    // Invariant: the giver does not call it any more.
    let value: Closure
    init(_ value: Closure) { self.value = value }
}
