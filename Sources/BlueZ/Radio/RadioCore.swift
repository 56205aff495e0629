#if os(Linux)
import BluetoothBackend
import BluetoothLocking
import BluetoothSystemClock
import Synchronization

/// What every ``Radio`` keeps.
///
/// The host is under a lock only so that queries may come from any thread.
final class RadioCore<Host: RadioHost>: Sendable {
    struct Contents: Sendable {
        var host: Host
        var sinks: [HostLedger.Manager: any EventSink<Host.Input.Event>] = [:]
        var timers: [Host.Input.Timer: DelayedCall] = [:]
        var channels: ChannelPool?
        var lastManager = 0
        var isStarted = false
        var inputs = InputQueue<Host.Input>()
        var pairingNeedHandler: (@Sendable (Bool) -> Void)?
    }

    let contents: Lock<Contents>
    let daemon: BlueZDaemon
    let clock = SystemClock()

    init(_ host: sending Host, daemon: BlueZDaemon) {
        self.daemon = daemon
        contents = Lock(Contents(host: host))
    }

    var channels: ChannelPool? { contents.withLock { $0.channels } }
}
#endif
