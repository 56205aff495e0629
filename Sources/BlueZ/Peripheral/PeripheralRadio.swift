#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothLocking
import BluetoothSystemClock
import Dispatch
import FoundationEssentials
import Logging
import Synchronization

/// Runs a ``PeripheralHost``: feeds it, and does what it says.
///
/// Inputs are processed on the daemon's queue. The host is under a lock only so that queries may come from any thread.
final class PeripheralRadio: DaemonClient {
    private struct Contents: Sendable {
        var host: PeripheralHost
        var sinks: [HostLedger.Manager: any EventSink<PeripheralEvent>] = [:]
        var timers: [PeripheralTimer: DelayedCall] = [:]
        /// Calls that wait for their answer.
        var calls: [IncomingCall.Number: DBusCall] = [:]
        var sockets: [SocketID: NotifySocket] = [:]
        var channels: ChannelPool?
        var lastManager = 0
        var lastCall: UInt64 = 0
        var isStarted = false
    }

    /// Each radio of the process has a place of its own for its objects.
    private static let radios = Atomic(0)

    private let contents: Lock<Contents>
    private let daemon: BlueZDaemon

    init(
        selector: AdapterSelector, daemon: BlueZDaemon, adapterTimings: BlueZTimings, timings: PeripheralTimings,
        network: any ChannelNetwork
    ) {
        self.daemon = daemon
        let number = Self.radios.add(1, ordering: .relaxed).newValue
        let base = ObjectPath.root.appending("org").appending("corebluetooth").appending("radio\(number)")
        contents = Lock(
            Contents(
                host: PeripheralHost(
                    selector: selector, base: base, adapterTimings: adapterTimings, timings: timings)))
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

    func activate(_ manager: HostLedger.Manager, _ sink: any EventSink<PeripheralEvent>) {
        daemon.queue.async { [self] in
            let isFirst = contents.withLock { contents -> Bool in
                contents.sinks[manager] = sink
                defer { contents.isStarted = true }
                return !contents.isStarted
            }
            process(.activated(manager))
            if isFirst { daemon.add(self) }
        }
    }

    func submit(_ command: PeripheralCommand, from manager: HostLedger.Manager) {
        daemon.queue.async { [self] in process(.command(manager, command)) }
    }

    func invalidate(_ manager: HostLedger.Manager) {
        // At once: nothing is delivered after this.
        let sink = contents.withLock { $0.sinks.removeValue(forKey: manager) }
        daemon.queue.async { [self] in process(.invalidated(manager)) }
        withExtendedLifetime(sink) {}
    }

    func query<Answer: Sendable>(_ body: @Sendable (borrowing PeripheralHost) -> Answer) -> Answer {
        contents.withLock { body($0.host) }
    }

    // MARK: Inputs, on the daemon's queue

    func receive(_ inputs: [HostInput]) {
        for input in inputs { process(.daemon(input)) }
    }

    private func process(_ input: PeripheralInput) {
        for effect in contents.withLock({ $0.host.handle(input) }) { perform(effect) }
    }

    private func received(_ call: DBusCall) {
        let number = contents.withLock { contents in
            contents.lastCall += 1
            let number = IncomingCall.Number(rawValue: contents.lastCall)
            contents.calls[number] = call
            return number
        }
        process(
            .called(IncomingCall(number: number, path: call.path, member: call.member, arguments: call.arguments)))
    }

    // MARK: Effects, on the daemon's queue

    private func perform(_ effect: PeripheralHostEffect) {
        switch effect {
        case .call(let id, let call):
            daemon.call(call) { [weak self] result in self?.process(.reply(id, result)) }
        case .deliver(let manager, let event): contents.withLock { $0.sinks[manager] }?.deliver(event)
        case .export(let object): export(object)
        case .withdraw(let path): daemon.objects.withdraw(path)
        case .broadcast(let path, let value): broadcast(path, value)
        case .answer(let number, let values): take(number)?.answer(values)
        case .refuse(let number, let error): take(number)?.refuse(error)
        case .open(let id, let number, let mtu): open(id, number, mtu)
        case .send(let id, let value): contents.withLock { $0.sockets[id] }?.send(value)
        case .close(let id): contents.withLock { $0.sockets.removeValue(forKey: id) }?.close()
        case .listen(let manager, let operation, let local, let isEncryptionRequired):
            let result = listen(at: local, isEncryptionRequired: isEncryptionRequired)
            daemon.queue.async { [self] in process(.listening(manager, operation, result)) }
        case .stopListening(let psm): _ = channels?.stopListening(psm)
        case .channel(let channel, let action): channels?.perform(action, on: channel)
        case .startTimer(let key, let delay): startTimer(key, delay)
        case .stopTimer(let key): contents.withLock { $0.timers.removeValue(forKey: key) }?.cancel()
        case .note(let note): note.log()
        }
    }

    private func take(_ number: IncomingCall.Number) -> DBusCall? {
        contents.withLock { $0.calls.removeValue(forKey: number) }
    }

    private func export(_ object: ExportedObject) {
        guard object.kind != .application else { return daemon.objects.export([], at: object.path, isManager: true) }
        let interface = object.kind.interface(object.properties) { [weak self] call in self?.received(call) }
        daemon.objects.export([interface], at: object.path)
    }

    private func broadcast(_ path: ObjectPath, _ value: Data) {
        let changed: [String: DBusValue] = ["Value": .bytes(Array(value))]
        // The value is not kept, so that it is told each time, and to nobody who asks later.
        daemon.objects.emit(
            path, InterfaceSignal.properties, "PropertiesChanged",
            [.string(ExportedObject.Kind.characteristic.rawValue), .properties(changed), .strings([])])
    }

    private func open(_ id: SocketID, _ number: IncomingCall.Number, _ mtu: UInt16) {
        let made = NotifySocket.make(on: daemon.queue) { [weak self] event in self?.process(.socket(id, event)) }
        guard let made else {
            take(number)?.refuse(DBusError(name: DBusError.Name.failed, message: "no descriptors left"))
            BlueZDaemon.logger.error("out of file descriptors: a subscription is lost")
            return daemon.queue.async { [weak self] in self?.process(.socket(id, .closed)) }
        }
        contents.withLock { $0.sockets[id] = made.socket }
        take(number)?.answer([.fileDescriptor(made.daemonsEnd), .uint16(mtu)])
    }

    // MARK: Channels

    private var channels: ChannelPool? { contents.withLock { $0.channels } }

    private func listen(at local: L2CAPAddress, isEncryptionRequired: Bool) -> Result<UInt16, BackendError> {
        // The number is known before anybody can use it: both happen on the queue.
        let number = Lock<UInt16>(0)
        let accepted: @Sendable (ChannelPool.Opening, L2CAPAddress) -> Void = { [weak self] opening, peer in
            self?.process(.channelAccepted(number.withLock { $0 }, opening, peer))
        }
        do throws(BackendError) {
            guard let channels else { throw BackendError(.unknown, operation: "publish channel") }
            let psm = try channels.listen(
                at: local, isEncryptionRequired: isEncryptionRequired, accepted: accepted)
            number.withLock { $0 = psm }
            return .success(psm)
        } catch {
            return .failure(error)
        }
    }

    /// What is received goes to the manager past the host, which knows only whose the channel is.
    private func happened(_ event: ChannelSocket.Event, on channel: ChannelID) {
        let told: PeripheralEvent
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

    private func startTimer(_ key: PeripheralTimer, _ delay: Duration) {
        let timer = DelayedCall { [weak self] in self?.process(.timer(key)) }
        let old = contents.withLock { contents in
            defer { contents.timers[key] = timer }
            return contents.timers[key]
        }
        old?.cancel()
        daemon.queue.asyncAfter(deadline: .now() + delay.dispatchInterval) { timer.fire() }
    }
}

extension ExportedObject.Kind {
    /// The interface of BlueZ that an object of this kind has.
    fileprivate func interface(
        _ properties: [String: DBusValue], _ handler: @escaping @Sendable (DBusCall) -> Void
    ) -> DBusInterface {
        var interface = DBusInterface(rawValue, properties: properties)
        switch self {
        case .application, .service: break
        case .characteristic:
            interface.on("ReadValue", "a{sv}", returning: "ay", handler: handler)
            interface.on("WriteValue", "aya{sv}", handler: handler)
            guard properties["NotifyAcquired"] != nil else { break }
            interface.on("AcquireNotify", "a{sv}", returning: "hq", handler: handler)
            for member in ["StartNotify", "StopNotify", "Confirm"] { interface.on(member, handler: handler) }
        case .descriptor: interface.on("ReadValue", "a{sv}", returning: "ay", handler: handler)
        case .advertisement: interface.on("Release", handler: handler)
        }
        return interface
    }
}
#endif
