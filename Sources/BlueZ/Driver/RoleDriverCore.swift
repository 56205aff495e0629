#if os(Linux)
import BluetoothBackend
import BluetoothSupport
import DequeModule

/// The state of a ``RoleDriver``.
///
/// A lock guards it, because managers are numbered and removed on any thread.
final class RoleDriverCore<Machine: RoleMachine>: Sendable {
    struct Contents: Sendable {
        var machine: Machine
        var sinks: [HostLedger.Manager: any EventSink<Machine.Input.Event>] = [:]
        var timers: [Machine.Input.Timer: DelayedCall] = [:]
        var channels: ChannelPool?
        var lastManager = 0
        var isStarted = false
        var inputs = InputQueue<Machine.Input>()
        var incoming = IncomingCalls()
        var pairingNeedHandler: (@Sendable (Bool) -> Void)?
    }

    let contents: Lock<Contents>
    let daemon: BlueZDaemon
    let clock = SystemClock()

    init(_ machine: sending Machine, daemon: BlueZDaemon) {
        self.daemon = daemon
        contents = Lock(Contents(machine: machine))
    }

    var channels: ChannelPool? { contents.withLock { $0.channels } }
}

/// The inputs of a machine, handled one at a time: an input that an effect causes waits for all effects before it.
struct InputQueue<Input: Sendable>: Sendable {
    private var waiting: Deque<Input> = []
    private var isProcessing = false

    /// Adds an input.
    ///
    /// - Returns: Whether the caller must process the inputs that `next()` returns; otherwise they are being processed.
    mutating func add(_ input: Input) -> Bool {
        waiting.append(input)
        defer { isProcessing = true }
        return !isProcessing
    }

    /// Returns the next input, after the effects of the last one; nil ends the processing.
    mutating func next() -> Input? {
        let input = waiting.popFirst()
        isProcessing = input != nil
        return input
    }
}
#endif
