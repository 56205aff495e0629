#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Dispatch

/// Runs a ``RoleMachine``: passes inputs to it and performs its effects.
///
/// Inputs are processed on the daemon's queue. Extensions implement what all roles share; each role
/// implements ``perform(_:)``.
protocol RoleDriver: DaemonClient {
    associatedtype Machine: RoleMachine

    var core: RoleDriverCore<Machine> { get }

    /// Performs a command of a manager.
    ///
    /// Any thread. It is a requirement so that each role gets specialized code for it.
    func submit(_ command: Machine.Input.Command, from manager: HostLedger.Manager)

    /// Gets the input that the machine needs before it activates a manager.
    ///
    /// Any thread.
    ///
    /// - Parameter completion: Called with the input, or with nil if none is needed; on any thread.
    func prepareActivation(
        of manager: HostLedger.Manager, _ completion: @escaping @Sendable (Machine.Input?) -> Void)

    /// Prepares the driver before it begins to follow the daemon, on the daemon's queue.
    func willStart()

    /// Performs an effect of the machine, on the daemon's queue.
    func perform(_ effect: Machine.Effect)
}

// MARK: - Managers, any thread

extension RoleDriver {
    func prepareActivation(
        of manager: HostLedger.Manager, _ completion: @escaping @Sendable (Machine.Input?) -> Void
    ) { completion(nil) }

    func willStart() {}

    var daemon: BlueZDaemon { core.daemon }

    /// Returns the number of a new manager.
    func newManager() -> HostLedger.Manager {
        core.managers.withLock { managers in
            managers.last += 1
            return managers.last
        }
    }

    func activate(_ manager: HostLedger.Manager, _ sink: any EventSink<Machine.Input.Event>) {
        core.managers.withLock { $0.sinks[manager] = sink }
        prepareActivation(of: manager) { [self] input in
            daemon.queue.async { [self] in
                // The manager may have been released meanwhile.
                guard core.sink(of: manager) != nil else { return }
                if let input { process(input) }
                process(.activated(manager))
                start()
            }
        }
    }

    func submit(_ command: Machine.Input.Command, from manager: HostLedger.Manager) {
        daemon.run { [self] in process(.command(manager, command)) }
    }

    func invalidate(_ manager: HostLedger.Manager) {
        // Immediately, because nothing may be delivered after this.
        let sink = core.managers.withLock { $0.sinks.removeValue(forKey: manager) }
        daemon.queue.async { [self] in process(.invalidated(manager)) }
        withExtendedLifetime(sink) {}
    }

    /// Returns the result of `body`, which reads the machine and the daemon's objects.
    func query<Answer: Sendable>(_ body: @Sendable (borrowing Machine) -> Answer) -> Answer {
        daemon.query { body(core.contents.machine) }
    }
}

// MARK: - Inputs, on the daemon's queue

extension RoleDriver {
    /// Begins to follow the daemon, once.
    func start() {
        guard !core.contents.isStarted else { return }
        core.contents.isStarted = true
        willStart()
        daemon.add(self)
    }

    func receive(_ event: DaemonEvent) {
        if case .changed(let changes) = event, !changes.contains(where: Machine.concerns) { return }
        process(.daemon(event))
    }

    /// Handles an input and performs its effects; an input that arrives meanwhile waits for them.
    func process(_ input: Machine.Input) {
        guard core.contents.inputs.begin(input) else { return }
        performEffects(of: input)
        while let next = core.contents.inputs.next() { performEffects(of: next) }
    }

    private func performEffects(of input: Machine.Input) {
        for effect in core.contents.machine.handle(input, at: core.clock.date) { perform(effect) }
    }
}

// MARK: - Effects of all roles, on the daemon's queue

extension RoleDriver {
    func make(_ call: MethodCall, _ id: CallID) {
        daemon.call(call) { [weak self] result in self?.process(.reply(id, result)) }
    }

    func deliver(_ event: Machine.Input.Event, to manager: HostLedger.Manager) {
        if let delivery = core.sink(of: manager)?.append(event) { daemon.deliver(delivery) }
    }

    func startTimer(_ key: Machine.Input.Timer, _ delay: Duration) {
        let timer = DelayedCall { [weak self] in self?.process(.timer(key)) }
        core.contents.timers.updateValue(timer, forKey: key)?.cancel()
        daemon.queue.asyncAfter(machineDeadline: .now() + delay.dispatchInterval) { [weak self] in
            if let self, core.contents.timers[key] === timer { core.contents.timers[key] = nil }
            timer.fire()
        }
    }

    func stopTimer(_ key: Machine.Input.Timer) {
        core.contents.timers.removeValue(forKey: key)?.cancel()
    }
}

// MARK: - Calls of the daemon to objects of this process, on the daemon's queue

extension RoleDriver {
    /// Adds a call that waits for its answer.
    func add(_ call: DBusCall) -> IncomingCall { core.contents.incoming.add(call) }

    func answer(_ number: IncomingCall.Number, _ values: [DBusValue]) { endCall(number)?.answer(values) }

    func refuse(_ number: IncomingCall.Number, _ error: DBusError) { endCall(number)?.refuse(error) }

    private func endCall(_ number: IncomingCall.Number) -> DBusCall? {
        core.contents.incoming.remove(number)
    }
}

// MARK: - Roles with an adapter

extension RoleDriver where Machine: AdapterRoleMachine {
    /// Returns the number of a new manager.
    ///
    /// - Parameter limit: The number of devices out of reach that the manager wants remembered.
    func newManager(remembering limit: Int) -> HostLedger.Manager {
        // The limit belongs to the directory, which is used on the queue only.
        daemon.queue.async { [core] in core.contents.machine.watch.remember(atLeast: limit) }
        return newManager()
    }

    /// Sets the handler of changes of the role's need for pairing; it is called on the daemon's queue.
    func onPairingNeed(_ handler: @escaping @Sendable (Bool) -> Void) {
        daemon.queue.async { [core] in core.contents.pairingNeedHandler = handler }
    }

    func pairingNeedChanged(to isNeeded: Bool) {
        core.contents.pairingNeedHandler?(isNeeded)
    }

    /// Creates the pool of the role's channels, which is not used before the queue runs.
    func addChannels(of network: any ChannelNetwork) {
        let channels = ChannelPool(queue: daemon.queue, network: network) { [weak self] channel, event in
            self?.handle(event, on: channel)
        }
        core.contents.channels = channels
    }

    /// Delivers bytes and credits directly to the channel's manager, which only the machine knows.
    private func handle(_ event: ChannelEvent, on channel: ChannelID) {
        if event == .closed { return process(.channelEnded(channel)) }
        let sink = core.contents.machine.channels[channel].flatMap { core.sink(of: $0.manager) }
        sink?.deliver(.channel(channel, event))
    }
}
#endif
