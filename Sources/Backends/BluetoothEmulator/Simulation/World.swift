import BluetoothBackend
import BluetoothSupport

/// The emulated world as one value: hosts, devices, links and scheduled events.
///
/// Pure and synchronous: inputs are enqueued, ``step(until:)`` handles one input or event, outputs are appended. It
/// uses no thread, no lock and no real clock. Everything is numbered in the order of creation and iterated in that
/// order, so the same seed and the same inputs give the same outputs.
///
/// Each layer is a type with its own tables; it is passed what is below it. The world dispatches inputs and events to
/// the layers, and does what concerns layers that do not know each other.
struct World: Sendable {
    var lower: LowerLayers
    var gatt = GATT()
    var security = Security()
    var channels = Channels()
    var externalPackets = ExternalPackets()

    init(configuration: EmulatorConfiguration, seed: UInt64, origin: Date, traceLimit: Int) {
        lower = LowerLayers(configuration: configuration, seed: seed, origin: origin, traceLimit: traceLimit)
    }

    /// Enqueues an input, which a later step handles.
    mutating func submit(_ input: WorldInput) { lower.context.queue.enqueue(input) }

    /// Handles the next input, or the next event that is due no later than `limit`.
    ///
    /// - Returns: Whether there was such work; if not, the time is now `limit`.
    mutating func step(until limit: Nanoseconds) -> Bool {
        guard let work = lower.context.queue.next(until: limit) else { return false }
        switch work {
        case .input(let input): handle(input)
        case .event(let event): handle(event)
        }
        return true
    }

    // MARK: Inputs

    private mutating func handle(_ input: WorldInput) {
        if lower.context.isNoting { lower.context.record(input, of: name(of: input)) }
        switch input {
        case .central(let manager, let command): handle(command, of: manager)
        case .peripheral(let manager, let command): handle(command, of: manager)
        case .activate(let manager):
            lower.hosts.managers[manager]?.isActive = true
            lower.context.queue.schedule(
                .reportState(manager), at: lower.context.now + lower.context.configuration.stateDelay.nanoseconds)
        case .pairing(let manager, let command): handle(command, of: manager)
        case .device(let device, let control): apply(control, to: device)
        case .host(let host, let control): apply(control, to: host)
        case .configure(let configuration): configure(configuration)
        case .interference(let chance):
            lower.context.interference = chance
            lower.air.allowLosses(at: chance)
        case .deviceAdded(let device): lower.air.begin(device, lower.hosts, &lower.context)
        case .answered(let reply): answered(reply)
        case .exchange(let manager, let link, let operation):
            gatt.enqueue(.exchange, as: operation, of: manager, on: link, &lower)
        case .link(let number, let control): apply(control, to: number)
        }
    }

    /// Returns the name of the device or host that an input controls.
    private func name(of input: WorldInput) -> String? {
        if case .host(let host, _) = input { return lower.hosts[host].identity.name }
        return input.device.flatMap { lower.air.devices[$0]?.description.name }
    }

    /// Changes the settings; links keep the parameters that they agreed.
    private mutating func configure(_ configuration: EmulatorConfiguration) {
        let mustWake = lower.context.configuration.advertisingCollides != configuration.advertisingCollides
        lower.context.configuration = configuration
        if let limit = configuration.traceLimit { lower.context.trace.limit = limit }
        lower.air.allowLosses(at: configuration.packetLossRate)
        lower.links.setDelays(ProcedureDelays(configuration))
        if mustWake { lower.air.wakeAll(lower.hosts, &lower.context) }
    }

    private mutating func handle(_ command: CentralCommand, of ref: Ref<Manager>) {
        switch command {
        case .request(let link, let operation, let request):
            return gatt.enqueue(.request(request), as: operation, of: ref, on: link, &lower)
        case .writeCommand(let link, let attribute, let value):
            return gatt.enqueue(
                .writeCommand(attribute, value), as: OperationID(rawValue: 0), of: ref, on: link, &lower)
        default: break
        }
        guard let host = lower.hosts.host(of: ref), lower.hosts[host].adapter.isOn else { return }
        switch command {
        case .startScan(let parameters): lower.air.startScan(ref, on: host, parameters, &lower.hosts, &lower.context)
        case .stopScan: lower.hosts.stopScan(ref, on: host)
        case .connect(let peer, let operation, let options): connect(host, ref, peer, operation, options)
        case .disconnect(let peer): disconnect(host, ref, peer)
        case .setConnectionEventFilter(let filter): lower.hosts.managers[ref]?.connectionEventFilter = filter
        case .channel(let channel, let command): channels.handle(command, on: channel, of: .manager(ref), &lower)
        case .request, .writeCommand: break  // handled in any state
        }
    }

    private mutating func handle(_ command: PeripheralCommand, of ref: Ref<Manager>) {
        guard let host = lower.hosts.host(of: ref) else { return }
        if case .channel(let channel, let command) = command, lower.hosts.isExternal(ref) {
            return channels.handle(command, on: channel, of: .manager(ref), &lower)
        }
        guard let server = lower.hosts[host].server else { return }
        switch command {
        case .removeService(let id): gatt.withdraw(id, of: ref, at: server, &lower)
        case .removeAllServices: gatt.withdraw(of: ref, at: server, &lower)
        case .stopAdvertising: lower.air.stopAdvertising(ref, at: server, &lower.hosts, &lower.context)
        default: if lower.air.isOn(server) { handleWhenOn(command, of: ref, on: host, server) }
        }
    }

    private mutating func handleWhenOn(
        _ command: PeripheralCommand, of ref: Ref<Manager>, on host: Int, _ server: Ref<Device>
    ) {
        switch command {
        case .addService(let operation, let service): gatt.publish(service, operation, by: ref, at: server, &lower)
        case .startAdvertising(let operation, let advertisement):
            lower.air.startAdvertising(advertisement, operation, ref, on: host, &lower.hosts, &lower.context)
        case .respond(let request, let code, let value):
            respond(ref, request, ATTCode(rawValue: code), value ?? Data(), server)
        case .updateValue(let attribute, let value, let centrals): update(ref, attribute, value, centrals, server)
        case .setConnectionLatency(let central, let latency):
            lower.links.setLatency(latency, for: central, at: lower.hosts[host], lower.air, &lower.context)
        case .publishChannel(let operation, let isEncryptionRequired):
            guard lower.hosts[host].adapter.features.contains(.channels) else {
                return lower.context.fail(operation, .operationNotSupported, "publish channel", of: ref)
            }
            channels.publish(operation, isEncryptionRequired: isEncryptionRequired, by: ref, on: host, &lower.context)
        case .unpublishChannel(let operation, let psm): channels.unpublish(psm, operation, by: ref, on: host, &lower)
        case .channel(let channel, let command): channels.handle(command, on: channel, of: .manager(ref), &lower)
        case .removeService, .removeAllServices, .stopAdvertising: break  // done in any state
        }
    }

    // MARK: Events

    private mutating func handle(_ event: WorldEvent) {
        switch event {
        case .answer(let link): answerArrived(link)
        case .advertise(let packet): lower.air.advertise(packet, &lower.hosts, &lower.context)
        case .advertisingEventOver(let packet): lower.air.advertisingEventOver(packet, &lower.hosts, &lower.context)
        case .finish(let link): gatt.finish(link, &lower)
        case .performPostponed(let link): performPostponed(link)
        case .continueRead(let link): gatt.continueRead(link, &lower)
        case .changeParameters(let link): lower.links.changeParameters(of: link, &lower.context)
        case .advertisingOver(let device, let set, let enabling):
            lower.air.devices[device]?.advertisingOver(device, set, enabling, &lower.context)
        case .rotateAddress(let device): lower.air.rotationDue(of: device, security, &lower.hosts, &lower.context)
        case .rotateHostAddress(let host): lower.air.rotationDue(ofHost: host, security, &lower.hosts, &lower.context)
        case .transmit(let link): transmit(link)
        case .peerTransmit(let link): gatt.sendOutgoing(link, &lower)
        case .established(let host, let device, let epoch, let admission): established(host, device, epoch, admission)
        case .supervision(let link): supervisionExpired(link)
        case .transactionTimeout(let link): transactionExpired(link)
        case .channelTransmit(let channel, let side): transmit(channel, side)
        case .externalTransmit(let link, let side): externalPackets.transmit(link, side, &lower)
        case .channelCredits(let channel, let bytes, let side):
            channels.grantCredits(on: channel, to: side, bytes, &lower)
        case .pairingFeatures(let link, let number):
            pairingContinued(security.exchangeFeatures(link, number, &lower), on: link)
        case .pairingKeys(let link, let number): pairingContinued(security.exchangeKeys(link, number, &lower), on: link)
        case .pairingTimeout(let link, let number): pairingContinued(security.timeOut(link, number, &lower), on: link)
        case .pairingLinkTimeout(let manager, let operation, let peer, let host):
            pairingLinkTimedOut((manager, operation), peer, on: host)
        case .encryptionTimeout(let host, let peer, let epoch): encryptionTimedOut(peer, on: host, epoch)
        case .close(let link, let reason): terminate(link, reason: reason)
        case .reportLocal(let manager, let link, let epoch):
            lower.hosts.reportLocal(manager, link, epoch, &lower.context)
        case .becomeReadyToWrite(let manager, let link):
            let credits = lower.context.configuration.transmitBuffer
            lower.hosts.grantCredits(credits, to: manager, on: link, &lower.context)
        case .reportState(let manager): reportState(manager)
        case .listen(let manager, let number, let parameters):
            lower.air.listen(manager, number, parameters, &lower.hosts, &lower.context)
        case .adapterBack(let host, let epoch): adapterBack(host, epoch)
        case .notifyTimer(let device, let attribute): notifyTimerFired(device, attribute)
        case .deviceTimer(let device, let number, let generation): handlerTimerFired(device, number, generation)
        case .script(let index, let input):
            lower.context.log("script[\(index)]")
            submit(input)
        case .alarm(let number):
            lower.context.timeline.alarmFired(number)
            lower.context.outputs.append(.alarm(number))
        }
    }

    // MARK: Script

    /// Schedules the steps of a script.
    ///
    /// - Parameters:
    ///   - script: Checked steps.
    ///   - described: The checked descriptions of the devices.
    ///   - refs: The devices, in the order of their descriptions.
    mutating func schedule(_ script: [ScriptStep], _ described: [PeripheralDescription], _ refs: [Ref<Device>]) {
        for (index, step) in script.enumerated() {
            do throws(DescriptionError) {
                let input = try step.input(lower.hosts, described, refs)
                // Future steps do not keep the world from being idle.
                lower.context.queue.schedule(.script(index, input), at: step.time.nanoseconds, isPeriodic: true)
            } catch { preconditionFailure("a checked script failed: \(error)") }
        }
    }

    // MARK: Queries

    /// The events that describe the present world, for a new tap.
    var presentState: [TapEvent] {
        var kinds = lower.hosts.indices.map { TapEvent.Kind.hostAdded(lower.hosts[$0].tapped($0)) }
        for host in lower.hosts.indices {
            kinds += security.bonds(of: host, lower.air, lower.hosts).map { .bondMade(host: host, $0) }
        }
        for (ref, device) in lower.air.devices.entries {
            kinds.append(.deviceAdded(device.tapped(ref)))
            kinds.append(.servicesChanged(device: ref.serial, device.server.database.tappedServices))
        }
        kinds += lower.links.refs.compactMap { tapped($0).map(TapEvent.Kind.connectionOpened) }
        return (kinds + [.began]).map(lower.context.event)
    }

    /// Returns a link for the taps; for a link that is just opening, the remembered services follow later.
    func tapped(_ ref: Ref<Link>, isOpening: Bool = false) -> TappedConnection? {
        guard let link = lower.links[ref], let device = lower.air.devices[link.device] else { return nil }
        let host = lower.hosts[link.host]
        let isCentralKnown = security.serverBond(link.device, device, with: host) != nil
        // Changed addresses are still those of the link if the other side has no keys.
        let centralAddress = isCentralKnown ? nil : link.centralAddress
        let deviceAddress = host.peers[link.peer]?.address
        let bond = security[link.host].bonds[device.identity.identityAddress]
        let remembersServices = isOpening && link.security.refusal == nil && bond?.cache != nil
        return TappedConnection(
            link: ref.serial,
            central: TappedConnection.End(
                host: link.host, peer: link.central, address: centralAddress ?? host.identity.airAddress,
                identityAddress: isCentralKnown ? host.identity.address : nil),
            peripheral: TappedConnection.End(
                host: device.host, peer: link.peer, address: deviceAddress ?? device.identity.address,
                identityAddress: bond.map { _ in device.identity.identityAddress }),
            device: link.device.serial, parameters: link.timing.parameters, mtu: link.mtu,
            phy: link.timing.packets.phy, dataLength: link.timing.packets.dataLength, security: link.security,
            sharedLink: link.other.flatMap { $0 < ref ? $0.serial : nil },
            knowsServices: remembersServices || gatt[ref]?.client.cache != nil)
    }

    var presentDescription: WorldDescription {
        // A world file has a separate field for collisions, and no field for the length of the trace.
        var settings = lower.context.configuration
        (settings.advertisingCollides, settings.traceLimit) = (false, nil)
        let chance = lower.context.interference
        let interference = chance > 0 ? [ScriptStep(at: .zero, .interference(chance))] : []
        let preset = EmulatorPreset.allCases.first { $0 != .default && $0.configuration == settings }
        return WorldDescription(
            hosts: lower.hosts.compactMap(\.presentDescription),
            devices: lower.air.described.map(\.element.presentDescription),
            seed: lower.context.random.seed, preset: preset,
            advertisingCollides: lower.context.configuration.advertisingCollides, script: interference)
    }

    /// Submits the input of a step, on the devices and hosts that exist now.
    mutating func perform(_ step: ScriptStep) {
        let described = lower.air.described
        do {
            submit(try step.input(lower.hosts, described.map(\.element.description), described.map(\.ref)))
        } catch {
            lower.context.log("a step has no effect: \(error.rule)")
        }
    }

    /// The Appearance (2A01) in Generic Access of a device that a host has a link with, unless the link may not read it.
    func appearance(of peer: PeerID, on host: Int) -> Data? {
        guard let (_, link) = lower.links.link(with: peer, in: [host], lower.air, lower.hosts),
            var device = lower.air.devices[link.device],
            let id = device.server.database.characteristic(CharacteristicPath("2A01", service: "1800")),
            device.server.database.refusal(id, isWrite: false, on: link.security) == nil
        else { return nil }
        return device.server.database[id]?.value
    }

    /// Returns the address under which a host knows a peer; nil for an unknown peer.
    func address(of peer: PeerID, on host: Int) -> DeviceAddress? {
        if let known = lower.hosts[host].peers[peer] { return known.address }
        if let ref = lower.hosts[host].links[peer], let link = lower.links[ref],
            let device = lower.air.devices[link.device]
        {
            return device.identity.address
        }
        let centrals = lower.links.connectedCentrals(of: lower.hosts[host], lower.air, lower.hosts)
        if let central = centrals.first(where: { $0.peer == peer }) { return central.address }
        return security[host].bondAddress(of: peer).map { security.airAddress(ofIdentity: $0, lower.air, lower.hosts) }
    }

    /// Returns the peers that are linked to a manager's host and offer one of the services.
    func connectedPeers(offering services: [BluetoothUUID], of ref: Ref<Manager>) -> [PeerSummary] {
        guard let host = lower.hosts.host(of: ref) else { return [] }
        let found = lower.hosts[host].links.sorted { $0.value < $1.value }.filter { _, link in
            guard let link = lower.links[link], !link.isClosing, let device = lower.air.devices[link.device] else {
                return false
            }
            return device.server.database.offers(services)
        }
        return lower.hosts.knownPeers(found.map(\.key), of: host)
    }
}
