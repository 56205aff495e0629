#if os(Linux)
import BluetoothBackend
import BluetoothSupport
import DequeModule

/// The state of a ``RoleDriver``.
// Invariant of `@unchecked Sendable`: `contents` is used on the daemon's queue, and in the
// initializer of the driver.
final class RoleDriverCore<Machine: RoleMachine>: @unchecked Sendable {
    struct Contents {
        var machine: Machine
        var timers: [Machine.Input.Timer: DelayedCall] = [:]
        var channels: ChannelPool?
        var isStarted = false
        var inputs = InputQueue<Machine.Input>()
        var incoming = IncomingCalls()
        var pairingNeedHandler: (@Sendable (Bool) -> Void)?
    }

    /// The managers, which any thread adds and removes.
    struct Managers: Sendable {
        var sinks: [HostLedger.Manager: any EventSink<Machine.Input.Event>] = [:]
        var last = 0
    }

    var contents: Contents
    let managers = Lock(Managers())
    let daemon: BlueZDaemon
    let clock = SystemClock()

    init(_ machine: sending Machine, daemon: BlueZDaemon) {
        self.daemon = daemon
        contents = Contents(machine: machine)
    }

    func sink(of manager: HostLedger.Manager) -> (any EventSink<Machine.Input.Event>)? {
        managers.withLock { $0.sinks[manager] }
    }
}

/// The inputs of a machine, handled one at a time: an input that an effect causes waits for all effects before it.
struct InputQueue<Input: Sendable>: Sendable {
    private var waiting: Deque<Input> = []
    private var isProcessing = false

    /// Begins to process an input, or adds it to those that wait.
    ///
    /// - Returns: Whether the caller must process the input, and then the inputs that `next()` returns.
    mutating func begin(_ input: Input) -> Bool {
        if isProcessing { waiting.append(input) }
        return !exchange(&isProcessing, with: true)
    }

    /// Returns the next input, after the effects of the last one; nil ends the processing.
    mutating func next() -> Input? {
        let input = waiting.popFirst()
        isProcessing = input != nil
        return input
    }
}
#endif
