import BluetoothSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

#if os(Linux)
import CDispatch

/// The functions of Dispatch that make `DispatchQueue.asyncAfter` virtual for code of a world.
///
/// Readings of time remain those of the machine: waits of threads end in its time.
/// Source: `swift-corelibs-libdispatch/src/swift/Queue.swift` and `Time.swift`.
enum VirtualDispatch {
    /// Makes the calls of worlds virtual, once per process.
    ///
    /// - Returns: Whether the program's Dispatch allows it.
    static func install() -> Bool {
        guard DelayedBlock.isUsable else { return false }
        // A call waits for virtual time only if all deadlines are known, so its function is the last one.
        return [("dispatch_time", time), ("dispatch_walltime", wallTime), ("dispatch_after", after)].allSatisfy {
            ImportedFunction.replace($0, in: "libswiftDispatch.so", with: $1)
        }
    }

    /// The virtual time of the calling code; nil for code without a world, and for this package's own calls.
    private static var present: TaskTime? { MachineTime.isRequired ? nil : TaskContext.current?.queue?.time }

    private static var time: UnsafeMutableRawPointer {
        let function: @convention(c) (dispatch_time_t, Int64) -> dispatch_time_t = { base, delta in
            let result = dispatch_time(base, delta)
            guard let present = VirtualDispatch.present else { return result }
            if base == 0 {
                present.deadlines.withLock { $0.read(result, at: present.now + .nanoseconds(delta)) }
            } else {
                present.deadlines.withLock { $0.add(.nanoseconds(delta), to: base, giving: result) }
            }
            return result
        }
        return unsafeBitCast(function, to: UnsafeMutableRawPointer.self)
    }

    private static var wallTime: UnsafeMutableRawPointer {
        let function: @convention(c) (UnsafePointer<timespec>?, Int64) -> dispatch_time_t = { date, delta in
            let result = dispatch_walltime(date, delta)
            if date == nil, let present = VirtualDispatch.present {
                present.deadlines.withLock { $0.read(result, at: present.now + .nanoseconds(delta)) }
            }
            return result
        }
        return unsafeBitCast(function, to: UnsafeMutableRawPointer.self)
    }

    private static var after: UnsafeMutableRawPointer {
        let function: @convention(c) (dispatch_time_t, dispatch_queue_t, @escaping DelayedBlock.Body) -> Void = {
            deadline, queue, body in
            guard let present = VirtualDispatch.present,
                let point = VirtualDispatch.point(of: deadline, in: present),
                present.call(DelayedBlock(body, on: queue), at: point)
            else { return dispatch_after(deadline, queue, body) }
        }
        return unsafeBitCast(function, to: UnsafeMutableRawPointer.self)
    }

    private static func point(of deadline: dispatch_time_t, in present: TaskTime) -> Duration? {
        guard let clock = DispatchDeadlines.Clock(deadline) else { return nil }
        return present.deadlines.withLock { deadlines in
            if let point = deadlines.point(of: deadline) { return point }
            // The world's code has the deadline from elsewhere, and has not read this clock.
            deadlines.read(clock == .uptime ? dispatch_time(0, 0) : dispatch_walltime(nil, 0), at: present.now)
            return deadlines.point(of: deadline)
        }
    }
}

/// A block of `asyncAfter` that waits for virtual time.
final class DelayedBlock: Sendable {
    typealias Body = @convention(block) () -> Void
    private typealias Retain = @Sendable @convention(c) (UnsafeMutableRawPointer) -> Void

    // Swift does not import these two functions.
    private static let retain = function("dispatch_retain")
    private static let release = function("dispatch_release")

    private static func function(_ name: String) -> Retain? {
        dlsym(dlopen(nil, RTLD_LAZY), name).map { unsafeBitCast($0, to: Retain.self) }
    }

    static var isUsable: Bool { retain != nil && release != nil }

    // Retained by this object; a queue may be used from any thread.
    private let queue: Unchecked<dispatch_queue_t>
    // Called once at most, on the queue. A closure, because a block has no metadata on Linux, which generic types need.
    private let body: Lock<Unchecked<() -> Void>?>

    init(_ body: @escaping Body, on queue: dispatch_queue_t) {
        self.queue = Unchecked(queue)
        self.body = Lock(Unchecked { body() })
        Self.retain?(UnsafeMutableRawPointer(queue))
    }

    deinit { Self.release?(UnsafeMutableRawPointer(queue.value)) }

    /// Runs the block on its queue as work of a world, and releases it before the end of the work.
    func run(in context: TaskContext, _ finish: @escaping @Sendable () -> Void) {
        dispatch_async(queue.value) { [self] in
            context.perform { removeBody()?.value() }
            finish()
        }
    }

    /// Runs the block on its queue after a duration of the machine's time.
    func run(after duration: Duration) {
        guard let body = removeBody() else { return }
        dispatch_after(dispatch_time(0, duration.nanoseconds), queue.value, body.value)
    }

    private func removeBody() -> Unchecked<() -> Void>? { body.withLock { $0.take() } }
}
#else
enum VirtualDispatch {
    static func install() -> Bool { false }
}
#endif
