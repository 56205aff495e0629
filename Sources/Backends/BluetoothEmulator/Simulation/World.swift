import BluetoothBackend
import BluetoothSupport
import DequeModule

/// The emulated world as one value: hosts, devices, links and scheduled events.
///
/// Pure and synchronous: inputs are enqueued, ``step(until:)`` handles one input or event, outputs are appended. It
/// uses no thread, no lock and no real clock. Everything is numbered in the order of creation and iterated in that
/// order, so the same seed and the same inputs give the same outputs.
struct World: Sendable {
    var context: WorldContext
    var hosts = Hosts()
    var air: Air
    var links = LinkLayer()
    var security = Security()
    var channels = Channels()

    init(configuration: EmulatorConfiguration, seed: UInt64, origin: Date, traceLimit: Int) {
        context = WorldContext(configuration: configuration, seed: seed, origin: origin, traceLimit: traceLimit)
        air = Air(seed: seed)
        air.allowLosses(at: configuration.packetLossRate)
    }

    /// Enqueues an input, which a later step handles.
    mutating func submit(_ input: WorldInput) {
        context.queue.enqueue(input)
    }

    /// Handles the next input, or the next event that is due no later than `limit`.
    ///
    /// - Returns: Whether there was such work; if not, the time is now `limit`.
    mutating func step(until limit: Nanoseconds) -> Bool {
        guard let work = context.queue.next(until: limit) else { return false }
        switch work {
        case .input(let input): handle(input)
        case .event(let event): handle(event)
        }
        return true
    }

    private mutating func handle(_ input: WorldInput) {
        if context.isNoting { context.record(input, of: name(of: input)) }
        switch input {
        case .central(let manager, let command): handle(command, of: manager)
        case .peripheral(let manager, let command): handle(command, of: manager)
        case .activate(let manager):
            hosts.managers[manager]?.isActive = true
            context.queue.schedule(
                .reportState(manager), at: context.now + context.configuration.stateDelay.nanoseconds)
        case .pairing(let manager, let command): handle(command, of: manager)
        case .device(let device, let control): apply(control, to: device)
        case .host(let host, let control): apply(control, to: host)
        case .configure(let configuration): configure(configuration)
        case .deviceAdded(let device):
            air.devices[device]?.limitAdvertising(device, &context)
            if let period = air.devices[device]?.description.addressRotation {
                context.queue.schedule(.rotateAddress(device), at: context.now + period.nanoseconds, isPeriodic: true)
            }
            air.wake(device, hosts, &context)
        case .answered(let reply): answered(reply)
        }
    }

    private mutating func handle(_ event: WorldEvent) {
        switch event {
        case .answer(let link): answerArrived(link)
        case .advertise(let packet): air.advertise(packet, &hosts, &context)
        case .advertisingEventOver(let packet): air.advertisingEventOver(packet, &hosts, &context)
        case .finish(let link): finish(link)
        case .performPostponed(let link): performPostponed(link)
        case .continueRead(let link): continueRead(link)
        case .changeParameters(let link): links.changeParameters(of: link, &context)
        case .advertisingOver(let device, let set, let enabling):
            air.devices[device]?.advertisingOver(device, set, enabling, &context)
        case .rotateAddress(let device): air.rotationDue(of: device, security, &hosts, &context)
        case .rotateHostAddress(let host): air.rotationDue(ofHost: host, security, &hosts, &context)
        case .transmit(let link): transmit(link)
        case .peerTransmit(let link): sendOutgoing(link)
        case .established(let host, let device, let epoch, let admission):
            established(host, device, epoch, admission)
        case .supervision(let link): supervisionExpired(link)
        case .transactionTimeout(let link): transactionExpired(link)
        case .channelTransmit(let channel, let side): transmit(channel, side)
        case .channelCredits(let channel, let bytes, let side):
            channels.grantCredits(on: channel, to: side, bytes, &links, &air, &context)
        case .pairingFeatures(let link, let number):
            pairingContinued(security.exchangeFeatures(link, number, &links, &air, hosts, &context), on: link)
        case .pairingKeys(let link, let number):
            pairingContinued(security.exchangeKeys(link, number, &links, air, hosts, &context), on: link)
        case .pairingTimeout(let link, let number):
            pairingContinued(security.timeOut(link, number, hosts, &context), on: link)
        case .pairingLinkTimeout(let manager, let operation, let peer, let host):
            pairingLinkTimedOut((manager, operation), peer, on: host)
        case .encryptionTimeout(let host, let peer, let epoch): encryptionTimedOut(peer, on: host, epoch)
        case .remoteClose(let link): terminate(link, reason: .remote)
        case .securityClose(let link): terminate(link, reason: .authentication)
        case .localClose(let link): terminate(link, reason: .local)
        case .reportLocal(let manager, let link, let epoch): reportLocal(manager, link, epoch)
        case .becomeReadyToWrite(let manager, let link): becomeReadyToWrite(manager, link)
        case .reportState(let manager): reportState(manager)
        case .listen(let manager, let number, let parameters): listen(manager, number, parameters)
        case .adapterBack(let host, let epoch): adapterBack(host, epoch)
        case .notifyTimer(let device, let attribute): notifyTimerFired(device, attribute)
        case .deviceTimer(let device, let number, let generation): handlerTimerFired(device, number, generation)
        case .script(let index, let input): scriptDue(index, input)
        case .alarm(let number):
            context.timeline.alarmFired(number)
            context.outputs.append(.alarm(number))
        }
    }

    /// Changes the settings; links keep the parameters that they agreed.
    private mutating func configure(_ configuration: EmulatorConfiguration) {
        let mustWake = context.configuration.advertisingCollides != configuration.advertisingCollides
        context.configuration = configuration
        if let limit = configuration.traceLimit { context.trace.limit = limit }
        air.allowLosses(at: configuration.packetLossRate)
        for link in links.refs { links[link]?.timing.delays = ProcedureDelays(configuration) }
        if mustWake { air.wakeAll(hosts, &context) }
    }

    /// Returns the name of the device or host that an input controls.
    private func name(of input: WorldInput) -> String? {
        if case .host(let host, _) = input { return hosts[host].identity.name }
        return input.device.flatMap { air.devices[$0]?.description.name }
    }
}
