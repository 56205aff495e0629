#if os(Linux)
import BluetoothBackend
import BluetoothSupport

/// The state of a ``RoleDriver``.
///
/// The machine is under a lock only so that queries may come from any thread.
final class RoleDriverCore<Machine: RoleMachine>: Sendable {
    struct Contents: Sendable {
        var machine: Machine
        var sinks: [HostLedger.Manager: any EventSink<Machine.Input.Event>] = [:]
        var timers: [Machine.Input.Timer: DelayedCall] = [:]
        var channels: ChannelPool?
        var lastManager = 0
        var isStarted = false
        var inputs = InputQueue<Machine.Input>()
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
#endif
