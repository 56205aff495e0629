#if os(Linux)
package import Dispatch
import Glibc
import Synchronization

/// What Dispatch needs of the process before its first timer or source.
///
/// libdispatch makes three descriptors then. Where there is none left for the first two it ends the process, and where
/// there is none for the third it loses timers (`_dispatch_epoll_init` and `_dispatch_timeout_program` in
/// `src/event/event_epoll.c` of swift-corelibs-libdispatch). So they are made here, where a failure can be told.
///
/// The first use of a global queue makes them, too, for a timer that watches its threads (`src/event/workqueue.c`); that
/// of a queue with a label does not.
package enum DispatchEventLoop {
    private static let isReady = Atomic(false)
    private static let descriptors = 3
    /// How long the first timer may take: it comes at once, or never.
    private static let patience = DispatchTimeInterval.seconds(5)

    /// Sees to it that timers and sources can be used from now on.
    ///
    /// Blocks for a moment the first time, so not on a queue that must not wait.
    ///
    /// - Throws: `LimitsExceeded` where the process has no descriptor left.
    package static func prepare() throws(DBusError) {
        if isReady.load(ordering: .acquiring) { return }
        var free: [CInt] = []
        defer { for descriptor in free { close(descriptor) } }
        for _ in 0..<descriptors {
            let descriptor = eventfd(0, eventfdFlags)
            guard descriptor >= 0 else { throw .exhausted("descriptors") }
            free.append(descriptor)
        }
        for descriptor in free { close(descriptor) }
        free = []
        let fired = DispatchSemaphore(value: 0)
        // A queue of its own: the threads of the global queue may all be waiting, one of them here.
        DispatchQueue(label: "DispatchEventLoop").asyncAfter(deadline: .now() + .milliseconds(1)) { fired.signal() }
        guard fired.wait(timeout: .now() + patience) == .success else { throw .exhausted("descriptors") }
        isReady.store(true, ordering: .releasing)
    }

    /// Does something on a queue after a pause, whether ``prepare()`` has succeeded or not.
    package static func run(
        after pause: DispatchTimeInterval, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
    ) {
        let deadline = DispatchTime.now() + pause
        if isReady.load(ordering: .acquiring) { return queue.asyncAfter(deadline: deadline, execute: body) }
        // Neither a queue of its own nor a wait on a semaphore needs a descriptor.
        DispatchQueue(label: "DispatchEventLoop").async {
            _ = DispatchSemaphore(value: 0).wait(timeout: deadline)
            queue.async(execute: body)
        }
    }
}
#endif
