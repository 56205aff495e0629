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
    var radio: Radio
    var gatt = GATT()
    var security = Security()
    var channels = Channels()

    init(configuration: EmulatorConfiguration, seed: UInt64, origin: Date, traceLimit: Int) {
        radio = Radio(configuration: configuration, seed: seed, origin: origin, traceLimit: traceLimit)
    }

    /// Enqueues an input, which a later step handles.
    mutating func submit(_ input: WorldInput) { radio.context.queue.enqueue(input) }

    /// Handles the next input, or the next event that is due no later than `limit`.
    ///
    /// - Returns: Whether there was such work; if not, the time is now `limit`.
    mutating func step(until limit: Nanoseconds) -> Bool {
        guard let work = radio.context.queue.next(until: limit) else { return false }
        switch work {
        case .input(let input): handle(input)
        case .event(let event): handle(event)
        }
        return true
    }

    // MARK: Inputs

    private mutating func handle(_ input: WorldInput) {
        if radio.context.isNoting { radio.context.record(input, of: name(of: input)) }
        switch input {
        case .central(let manager, let command): handle(command, of: manager)
        case .peripheral(let manager, let command): handle(command, of: manager)
        case .activate(let manager):
            radio.hosts.managers[manager]?.isActive = true
            radio.context.queue.schedule(
                .reportState(manager), at: radio.context.now + radio.context.configuration.stateDelay.nanoseconds)
        case .pairing(let manager, let command): handle(command, of: manager)
        case .device(let device, let control): apply(control, to: device)
        case .host(let host, let control): apply(control, to: host)
        case .configure(let configuration): configure(configuration)
        case .deviceAdded(let device): radio.air.begin(device, radio.hosts, &radio.context)
        case .answered(let reply): answered(reply)
        }
    }

    /// Returns the name of the device or host that an input controls.
    private func name(of input: WorldInput) -> String? {
        if case .host(let host, _) = input { return radio.hosts[host].identity.name }
        return input.device.flatMap { radio.air.devices[$0]?.description.name }
    }

    /// Changes the settings; links keep the parameters that they agreed.
    private mutating func configure(_ configuration: EmulatorConfiguration) {
        let mustWake = radio.context.configuration.advertisingCollides != configuration.advertisingCollides
        radio.context.configuration = configuration
        if let limit = configuration.traceLimit { radio.context.trace.limit = limit }
        radio.air.allowLosses(at: configuration.packetLossRate)
        radio.links.setDelays(ProcedureDelays(configuration))
        if mustWake { radio.air.wakeAll(radio.hosts, &radio.context) }
    }

    private mutating func handle(_ command: CentralCommand, of ref: Ref<Manager>) {
        switch command {
        case .request(let link, let operation, let request):
            return gatt.enqueue(.request(request), as: operation, of: ref, on: link, &radio)
        case .writeCommand(let link, let attribute, let value):
            return gatt.enqueueCommand(attribute, value, of: ref, on: link, &radio)
        default: break
        }
        guard let host = radio.hosts.managers[ref]?.host, radio.hosts[host].adapter.isOn else { return }
        switch command {
        case .startScan(let parameters): radio.air.startScan(ref, on: host, parameters, &radio.hosts, &radio.context)
        case .stopScan: radio.hosts.stopScan(ref, on: host)
        case .connect(let peer, let operation, let options): connect(host, ref, peer, operation, options)
        case .disconnect(let peer): disconnect(host, ref, peer)
        case .setConnectionEventFilter(let filter): radio.hosts.managers[ref]?.connectionEventFilter = filter
        case .channel(let channel, let command): channels.handle(command, on: channel, of: ref, &radio)
        case .request, .writeCommand: break  // handled in any state
        }
    }

    private mutating func handle(_ command: PeripheralCommand, of ref: Ref<Manager>) {
        guard let host = radio.hosts.managers[ref]?.host, let server = radio.hosts[host].server else { return }
        switch command {
        case .removeService(let id): gatt.withdraw(id, of: ref, at: server, &radio)
        case .removeAllServices: gatt.withdraw(of: ref, at: server, &radio)
        case .stopAdvertising: radio.air.stopAdvertising(ref, at: server, &radio.hosts, &radio.context)
        default: if radio.air.devices[server]?.signal.isOn == true { handleWhenOn(command, of: ref, on: host, server) }
        }
    }

    private mutating func handleWhenOn(
        _ command: PeripheralCommand, of ref: Ref<Manager>, on host: Int, _ server: Ref<Device>
    ) {
        switch command {
        case .addService(let operation, let service): gatt.publish(service, operation, by: ref, at: server, &radio)
        case .startAdvertising(let operation, let advertisement):
            radio.air.startAdvertising(advertisement, operation, ref, at: server, &radio.hosts, &radio.context)
        case .respond(let request, let code, let value):
            respond(ref, request, ATTCode(rawValue: code), value ?? Data(), server)
        case .updateValue(let attribute, let value, let centrals): update(ref, attribute, value, centrals, server)
        case .setConnectionLatency(let central, let latency):
            radio.links.setLatency(latency, for: central, at: radio.hosts[host], radio.air, &radio.context)
        case .publishChannel(let operation, let isEncryptionRequired):
            guard radio.hosts[host].adapter.features.contains(.channels) else {
                return radio.context.fail(operation, .operationNotSupported, "publish channel", of: ref)
            }
            channels.publish(operation, isEncryptionRequired: isEncryptionRequired, by: ref, on: host, &radio.context)
        case .unpublishChannel(let operation, let psm): channels.unpublish(psm, operation, by: ref, on: host, &radio)
        case .channel(let channel, let command): channels.handle(command, on: channel, of: ref, &radio)
        case .removeService, .removeAllServices, .stopAdvertising: break  // done in any state
        }
    }

    // MARK: Events

    private mutating func handle(_ event: WorldEvent) {
        switch event {
        case .answer(let link): answerArrived(link)
        case .advertise(let packet): radio.air.advertise(packet, &radio.hosts, &radio.context)
        case .advertisingEventOver(let packet): radio.air.advertisingEventOver(packet, &radio.hosts, &radio.context)
        case .finish(let link): gatt.finish(link, &radio)
        case .performPostponed(let link): performPostponed(link)
        case .continueRead(let link): gatt.continueRead(link, &radio)
        case .changeParameters(let link): radio.links.changeParameters(of: link, &radio.context)
        case .advertisingOver(let device, let set, let enabling):
            radio.air.devices[device]?.advertisingOver(device, set, enabling, &radio.context)
        case .rotateAddress(let device): radio.air.rotationDue(of: device, security, &radio.hosts, &radio.context)
        case .rotateHostAddress(let host): radio.air.rotationDue(ofHost: host, security, &radio.hosts, &radio.context)
        case .transmit(let link): transmit(link)
        case .peerTransmit(let link): gatt.sendOutgoing(link, &radio)
        case .established(let host, let device, let epoch, let admission): established(host, device, epoch, admission)
        case .supervision(let link): supervisionExpired(link)
        case .transactionTimeout(let link): transactionExpired(link)
        case .channelTransmit(let channel, let side): transmit(channel, side)
        case .channelCredits(let channel, let bytes, let side):
            channels.grantCredits(on: channel, to: side, bytes, &radio)
        case .pairingFeatures(let link, let number):
            pairingContinued(security.exchangeFeatures(link, number, &radio), on: link)
        case .pairingKeys(let link, let number): pairingContinued(security.exchangeKeys(link, number, &radio), on: link)
        case .pairingTimeout(let link, let number): pairingContinued(security.timeOut(link, number, &radio), on: link)
        case .pairingLinkTimeout(let manager, let operation, let peer, let host):
            pairingLinkTimedOut((manager, operation), peer, on: host)
        case .encryptionTimeout(let host, let peer, let epoch): encryptionTimedOut(peer, on: host, epoch)
        case .remoteClose(let link): terminate(link, reason: .remote)
        case .securityClose(let link): terminate(link, reason: .authentication)
        case .localClose(let link): terminate(link, reason: .local)
        case .reportLocal(let manager, let link, let epoch):
            radio.hosts.reportLocal(manager, link, epoch, &radio.context)
        case .becomeReadyToWrite(let manager, let link): radio.hosts.becomeReadyToWrite(manager, link, &radio.context)
        case .reportState(let manager): reportState(manager)
        case .listen(let manager, let number, let parameters):
            radio.air.listen(manager, number, parameters, &radio.hosts, &radio.context)
        case .adapterBack(let host, let epoch): adapterBack(host, epoch)
        case .notifyTimer(let device, let attribute): notifyTimerFired(device, attribute)
        case .deviceTimer(let device, let number, let generation): handlerTimerFired(device, number, generation)
        case .script(let index, let input):
            radio.context.log("script[\(index)]")
            submit(input)
        case .alarm(let number):
            radio.context.timeline.alarmFired(number)
            radio.context.outputs.append(.alarm(number))
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
                let input = try step.input(radio.hosts, described, refs)
                // Future steps do not keep the world from being idle.
                radio.context.queue.schedule(.script(index, input), at: step.time.nanoseconds, isPeriodic: true)
            } catch { preconditionFailure("a checked script failed: \(error)") }
        }
    }

    // MARK: Queries

    /// The events that describe the present world, for a new tap.
    var presentState: [TapEvent] {
        var kinds = radio.hosts.indices.map { TapEvent.Kind.hostAdded(radio.hosts[$0].tapped($0)) }
        for host in radio.hosts.indices {
            kinds += security.bonds(of: host, radio.air, radio.hosts).map { .bondMade(host: host, $0) }
        }
        for ref in radio.air.devices.refs {
            guard let device = radio.air.devices[ref] else { continue }
            kinds.append(.deviceAdded(device.tapped(ref)))
            kinds.append(.servicesChanged(device: ref.serial, device.server.database.tappedServices))
        }
        kinds += radio.links.refs.compactMap {
            radio.links.tapped($0, gatt, security, radio.air, radio.hosts).map(TapEvent.Kind.connectionOpened)
        }
        return (kinds + [.began]).map(radio.context.event)
    }

    var presentDescription: WorldDescription {
        // A world file has a separate field for collisions, and no field for the length of the trace.
        var settings = radio.context.configuration
        (settings.advertisingCollides, settings.traceLimit) = (false, nil)
        let preset = EmulatorPreset.allCases.first { $0 != .default && $0.configuration == settings }
        return WorldDescription(
            hosts: radio.hosts.compactMap(\.presentDescription),
            devices: radio.air.described.compactMap { radio.air.devices[$0]?.presentDescription },
            seed: radio.context.random.seed, preset: preset,
            advertisingCollides: radio.context.configuration.advertisingCollides)
    }

    /// The Appearance (2A01) in Generic Access of a device that a host has a link with, unless the link may not read it.
    func appearance(of peer: PeerID, on host: Int) -> Data? {
        guard let (_, link) = radio.links.link(with: peer, in: [host], radio.air, radio.hosts),
            var database = radio.air.devices[link.device]?.server.database,
            let id = database.characteristic(CharacteristicPath("2A01", service: "1800")),
            database.refusal(id, isWrite: false, on: link.security) == nil
        else { return nil }
        return database[id]?.value
    }

    /// Returns the address under which a host knows a peer; nil for an unknown peer.
    func address(of peer: PeerID, on host: Int) -> DeviceAddress? {
        if let known = radio.hosts[host].peers[peer] { return known.address }
        if let link = radio.hosts[host].links[peer].flatMap({ radio.links[$0] }) {
            return radio.air.devices[link.device]?.identity.address
        }
        let centrals = radio.links.connectedCentrals(of: radio.hosts[host], radio.air, radio.hosts)
        if let central = centrals.first(where: { $0.peer == peer }) { return central.address }
        return security[host].bondAddress(of: peer).map { security.airAddress(ofIdentity: $0, radio.air, radio.hosts) }
    }

    /// Returns the peers that are linked to a manager's host and offer one of the services.
    func connectedPeers(offering services: [BluetoothUUID], of ref: Ref<Manager>) -> [PeerSummary] {
        guard let host = radio.hosts.managers[ref]?.host else { return [] }
        let found = radio.hosts[host].links.sorted { $0.value < $1.value }.filter { _, link in
            guard let link = radio.links[link], !link.isClosing, let device = radio.air.devices[link.device] else {
                return false
            }
            return device.server.database.offers(services)
        }
        return radio.hosts.knownPeers(found.map(\.key), of: host)
    }
}
