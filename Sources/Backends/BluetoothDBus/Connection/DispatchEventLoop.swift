#if os(Linux)
import BluetoothSupport
package import Dispatch
import Glibc
import Synchronization

/// Creates the resources that Dispatch needs for its first timer or source.
///
/// libdispatch creates three descriptors then. If none is left for the first two, it ends the process, and if none is
/// left for the third, it loses timers (`_dispatch_epoll_init` and `_dispatch_timeout_program` in
/// `src/event/event_epoll.c` of swift-corelibs-libdispatch). This type creates them at a point where a failure can be
/// reported.
///
/// The first use of a global queue creates them too, for a timer that monitors its threads (`src/event/workqueue.c`);
/// the first use of a queue with a label does not.
package enum DispatchEventLoop {
    private static let isReady = Atomic(false)
    private static let descriptors = 3
    /// The maximum wait for the first timer, which fires at once or never.
    private static let timeout = DispatchTimeInterval.seconds(5)

    /// Ensures that timers and sources can be used from now on.
    ///
    /// Blocks for a moment the first time, so do not call it on a queue that must not wait.
    ///
    /// - Throws: `LimitsExceeded` if the process has no descriptor left.
    package static func prepare() throws(DBusError) {
        if isReady.load(ordering: .acquiring) { return }
        var free: [DBusFileDescriptor] = []
        for _ in 0..<descriptors { free.append(try DBusFileDescriptor.event()) }
        free = []
        let fired = DispatchSemaphore(value: 0)
        // A separate queue, because all threads of the global queue may be waiting, one of them here.
        DispatchQueue(label: "DispatchEventLoop").asyncAfter(machineDeadline: .now() + .milliseconds(1)) {
            fired.signal()
        }
        guard fired.wait(timeout: .now() + timeout) == .success else { throw .exhausted("descriptors") }
        isReady.store(true, ordering: .releasing)
    }

    /// Runs `body` on a queue after a pause, whether ``prepare()`` has succeeded or not.
    package static func run(
        after pause: DispatchTimeInterval, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
    ) {
        let deadline = DispatchTime.now() + pause
        if isReady.load(ordering: .acquiring) { return queue.asyncAfter(machineDeadline: deadline, execute: body) }
        // Neither a queue with a label nor a wait on a semaphore needs a descriptor.
        DispatchQueue(label: "DispatchEventLoop").async {
            _ = DispatchSemaphore(value: 0).wait(timeout: deadline)
            queue.async(execute: body)
        }
    }
}
#endif
