#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothLocking
import BluetoothSystemClock
import Dispatch
import Logging
import Synchronization

/// Runs a ``CentralHost``: feeds it, and does what it says.
///
/// Inputs are processed on the daemon's queue. The host is under a lock only so that queries may come from any thread.
final class CentralRadio: DaemonClient {
    private struct Contents: Sendable {
        var host: CentralHost
        var sinks: [HostLedger.Manager: any EventSink<CentralEvent>] = [:]
        var timers: [TimerKey: DelayedCall] = [:]
        var channels: ChannelPool?
        var sockets: [WriteSocketID: WriteSocket] = [:]
        var lastManager = 0
        var isStarted = false
        var securityHandler: (@Sendable (PeerID) -> Void)?
    }

    private let contents: Lock<Contents>
    private let daemon: BlueZDaemon
    private let clock = SystemClock()

    init(
        selector: AdapterSelector, daemon: BlueZDaemon, timings: BlueZTimings,
        network: any ChannelNetwork = BluetoothSockets()
    ) {
        self.daemon = daemon
        contents = Lock(Contents(host: CentralHost(selector: selector, timings: timings)))
        let channels = ChannelPool(queue: daemon.queue, network: network) { [weak self] channel, event in
            self?.happened(event, on: channel)
        }
        contents.withLock { $0.channels = channels }
    }

    // MARK: Managers, any thread

    /// A number for a manager that comes.
    func newManager() -> HostLedger.Manager {
        contents.withLock { contents in
            contents.lastManager += 1
            return contents.lastManager
        }
    }

    func activate(_ manager: HostLedger.Manager, _ sink: any EventSink<CentralEvent>) {
        daemon.queue.async { [self] in
            contents.withLock { $0.sinks[manager] = sink }
            process(.activated(manager))
            start()
        }
    }

    /// Says who hears of peers that an operation failed with for want of security.
    func onSecurityFailure(_ handler: @escaping @Sendable (PeerID) -> Void) {
        contents.withLock { $0.securityHandler = handler }
    }

    func submit(_ command: CentralCommand, from manager: HostLedger.Manager) {
        daemon.queue.async { [self] in process(.command(manager, command)) }
    }

    func invalidate(_ manager: HostLedger.Manager) {
        // At once: nothing is delivered after this.
        let sink = contents.withLock { $0.sinks.removeValue(forKey: manager) }
        daemon.queue.async { [self] in process(.invalidated(manager)) }
        withExtendedLifetime(sink) {}
    }

    func query<Answer: Sendable>(_ body: @Sendable (borrowing CentralHost) -> Answer) -> Answer {
        contents.withLock { body($0.host) }
    }

    // MARK: Inputs, on the daemon's queue

    /// Begins to follow the daemon, once.
    func start() {
        let isFirst = contents.withLock { contents in
            defer { contents.isStarted = true }
            return !contents.isStarted
        }
        if isFirst { daemon.add(self) }
    }

    func process(_ input: HostInput) { receive([input]) }

    func receive(_ inputs: [HostInput]) {
        for input in inputs {
            let date = clock.date
            let effects = contents.withLock { $0.host.handle(input, at: date) }
            for effect in effects { perform(effect) }
        }
    }

    private func perform(_ effect: HostEffect) {
        switch effect {
        case .call(let id, let call):
            daemon.call(call) { [weak self] result in self?.process(.reply(id, result)) }
        case .openChannel(let id, let local, let peer):
            channels?.connect(from: local, to: peer) { [weak self] result in
                self?.process(.channelReply(id, result))
            }
        case .channel(let channel, let action): channels?.perform(action, on: channel)
        case .socket(let socket, let action): perform(action, on: socket)
        case .securityFailed(let peer): contents.withLock { $0.securityHandler }?(peer)
        case .refresh: daemon.refresh()
        case .deliver(let manager, let event): contents.withLock { $0.sinks[manager] }?.deliver(event)
        case .startTimer(let key, let delay): startTimer(key, delay)
        case .stopTimer(let key): contents.withLock { $0.timers.removeValue(forKey: key) }?.cancel()
        case .note(let note): note.log()
        }
    }

    private func perform(_ action: WriteSocket.Action, on id: WriteSocketID) {
        switch action {
        case .adopt(let socket):
            let made = WriteSocket(adopting: socket, queue: daemon.queue) { [weak self] event in
                self?.process(.socket(id, event))
            }
            contents.withLock { $0.sockets[id] = made }
        case .write(let value): contents.withLock { $0.sockets[id] }?.send(value)
        case .drain: contents.withLock { $0.sockets[id] }?.drain()
        case .close: contents.withLock { $0.sockets.removeValue(forKey: id) }?.close()
        }
    }

    private var channels: ChannelPool? { contents.withLock { $0.channels } }

    /// What is received goes to the manager past the host, which knows only whose the channel is.
    private func happened(_ event: ChannelSocket.Event, on channel: ChannelID) {
        let told: CentralEvent
        switch event {
        case .received(let data): told = .channelReceived(channel: channel, data: data)
        case .credits(let count): told = .channelCredits(channel: channel, count: count)
        case .closed: return process(.channelEnded(channel))
        }
        let sink = contents.withLock { contents in
            contents.host.channels[channel].flatMap { contents.sinks[$0.manager] }
        }
        sink?.deliver(told)
    }

    private func startTimer(_ key: TimerKey, _ delay: Duration) {
        let timer = DelayedCall { [weak self] in self?.process(.timer(key)) }
        let old = contents.withLock { contents in
            defer { contents.timers[key] = timer }
            return contents.timers[key]
        }
        old?.cancel()
        daemon.queue.asyncAfter(deadline: .now() + delay.dispatchInterval) { timer.fire() }
    }
}
#endif
