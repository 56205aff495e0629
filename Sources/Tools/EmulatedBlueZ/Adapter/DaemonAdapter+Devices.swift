#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport

// The devices of an adapter: which ones it knows, and the calls and events for each of them.
extension DaemonAdapter {
    // MARK: Objects

    /// The device whose object has a path.
    func device(at path: ObjectPath) -> DaemonDevice? { peers[path].flatMap { devices[$0] } }

    /// Adds a bonded device of the host before it is heard.
    mutating func addDevice(_ bond: PeerFacts, _ context: inout DaemonContext) {
        var device = DaemonDevice(bond, on: self)
        (device.security.isBonded, device.security.isPaired, device.isTemporary) = (true, true, false)
        add(device, &context)
    }

    /// Adds a device, and forgets another one that had the address before.
    private mutating func add(_ device: DaemonDevice, _ context: inout DaemonContext) {
        if let former = peers[device.path] { forget(former, &context) }
        devices[device.peer] = device
        peers[device.path] = device.peer
        device.export(&context)
    }

    /// Forgets a device, and removes its objects, the deepest first.
    mutating func forget(_ peer: PeerID, _ context: inout DaemonContext) {
        guard var device = devices.removeValue(forKey: peer) else { return }
        device.failOperations(device.connection.link?.purposes ?? [], &context)
        device.removeAttributes(&context)
        monitors.lose(peer, device.path, &context)
        context.removeBattery(at: device.path)
        context.remove(device.path)
        peers[device.path] = nil
        if let link = device.connection.link?.id { links[link] = nil }
    }

    /// Forgets a temporary device if it was not heard for long, or schedules the next check.
    mutating func temporaryTimePassed(_ peer: PeerID, _ context: inout DaemonContext) {
        guard let device = devices[peer], device.isTemporary else { return }
        let timeout = context.configuration.temporaryTimeout
        let left = device.isInUse ? timeout : device.heard.lastPacket + timeout - context.now
        if left <= .zero { forget(peer, &context) } else { device.checkLater(after: left, &context) }
    }

    mutating func removeDevice(_ call: ClientCall, _ context: inout DaemonContext) throws(DBusError) {
        guard let path = call.arguments.first?.pathValue, let peer = peers[path] else {
            throw BlueZError.doesNotExist
        }
        guard state.isPowered else { throw BlueZError.notReady }
        devices[peer]?.closeLinks(&context)
        linkLost(peer, .removed, &context)
        context.output(.host(adapter: index, .removeBond(peer)))
        forget(peer, &context)
        context.answer(call.id)
    }

    // MARK: Calls

    mutating func handle(
        _ call: ClientCall, of peer: PeerID, _ interface: String, _ context: inout DaemonContext
    ) throws(DBusError) {
        guard devices[peer] != nil else { throw BlueZError.unknown(call, isObjectThere: false) }
        switch (interface, call.member) {
        case (BlueZInterfaces.device, "CancelPairing"): try cancelPairing(call, with: peer, &context)
        case (BlueZInterfaces.device, _):
            try devices[peer]?.handleCall(call, isPowered: state.isPowered, &context)
        case (BlueZInterfaces.bearer, _):
            try devices[peer]?.handleBearerCall(call, isPowered: state.isPowered, &context)
        case (BlueZInterfaces.characteristic, _): try devices[peer]?.handleCharacteristicCall(call, &context)
        case (BlueZInterfaces.descriptor, _): try devices[peer]?.handleDescriptorCall(call, &context)
        default: throw BlueZError.unknown(call, isObjectThere: true)
        }
    }

    private mutating func cancelPairing(
        _ call: ClientCall, with peer: PeerID, _ context: inout DaemonContext
    ) throws(DBusError) {
        guard devices[peer]?.security.pairing != nil else { throw BlueZError.doesNotExist }
        pairing.reject(about: peer, isCancelled: true, &context)
        devices[peer]?.cancelPairing(for: call, &context)
    }

    // MARK: Events

    mutating func handle(_ event: CentralEvent, _ context: inout DaemonContext) {
        switch event {
        case .stateChanged(let state): stateChanged(state, &context)
        case .discovered(let discovery): heard(discovery, &context)
        case .connected(let peer, let link, _, let parameters): connected(peer, link, parameters, &context)
        case .connectFailed(let peer, _, let error): devices[peer]?.connectFailed(error, &context)
        case .disconnected(let link, let reason, _, _, _):
            if let peer = links[link] { linkLost(peer, .closed(reason), &context) }
        case .nameChanged(let peer, let name, let source):
            devices[peer]?.nameChanged(name, isOwn: source == .gap, &context)
        case .mtuChanged(let link, let mtu): if let peer = links[link] { devices[peer]?.mtuChanged(mtu, &context) }
        case .writeCredits(let link, let count):
            if let peer = links[link] { devices[peer]?.connection.link?.grantCredits(count, &context) }
        case .servicesChanged(let link, let removed, _):
            if let peer = links[link] { devices[peer]?.servicesChanged(removed: removed, &context) }
        case .response(let link, let operation, let response):
            if let peer = links[link] { devices[peer]?.responded(response, to: operation, &context) }
        case .valueNotified(let link, let attribute, let value):
            if let peer = links[link] { devices[peer]?.notified(value, attribute, &context) }
        case .authorizationChanged, .restored, .peerForgotten, .connectionEvent, .ancsAuthorizationChanged, .channel,
            .subscriptionEnded:
            break  // these events are not visible in BlueZ
        }
    }

    private mutating func heard(_ discovery: Discovery, _ context: inout DaemonContext) {
        guard state.isPresent else { return }
        let hearing = monitors.hear(discovery, at: context.now)
        if self.discovery.lets(discovery) || hearing.isReported { report(discovery, &context) }
        showToMonitors(hearing, discovery.peer, &context)
    }

    private mutating func report(_ discovery: Discovery, _ context: inout DaemonContext) {
        if devices[discovery.peer] == nil {
            guard let address = discovery.address.flatMap({ DeviceAddress($0) }) else { return }
            let name = discovery.advertisement.localName ?? discovery.name
            let facts = PeerFacts(peer: discovery.peer, address: address, name: name)
            var device = DaemonDevice(facts, on: self)
            device.heard.lastReport = context.now - context.configuration.reportInterval
            add(device, &context)
            device.checkLater(after: context.configuration.temporaryTimeout, &context)
        }
        devices[discovery.peer]?.heard(
            discovery, wantsDuplicates: self.discovery.wantsDuplicates,
            isFiltered: self.discovery.isFiltered || monitors.isActive, &context)
        if self.discovery.wantConnection(discovery) { devices[discovery.peer]?.connectIfUnused(&context) }
    }

    private mutating func connected(
        _ peer: PeerID, _ link: LinkID, _ parameters: LinkParameters, _ context: inout DaemonContext
    ) {
        guard devices[peer]?.connection.connect != nil else {
            return context.output(.central(adapter: index, .disconnect(peer: peer)))
        }
        links[link] = peer
        devices[peer]?.connected(link, parameters, &context)
    }

    mutating func linkLost(_ peer: PeerID, _ end: LinkEnd, _ context: inout DaemonContext) {
        if let link = devices[peer]?.connection.link?.id { links[link] = nil }
        devices[peer]?.linkLost(end, &context)
    }

    /// Handles the connection of a central to the adapter's services, and creates its object.
    mutating func centralConnected(_ facts: PeerFacts, _ context: inout DaemonContext) {
        guard state.isPresent else { return }
        if devices[facts.peer] == nil {
            var device = DaemonDevice(facts, on: self)
            device.heard.lastPacket = context.now
            add(device, &context)
        }
        devices[facts.peer]?.centralConnected(&context)
        advertisements.centralConnected(facts.peer, &context)
    }

    mutating func centralDisconnected(_ peer: PeerID, _ context: inout DaemonContext) {
        devices[peer]?.centralDisconnected(&context)
        advertisements.centralDisconnected(peer, state, &context)
    }

    mutating func handle(_ event: PeripheralEvent, _ context: inout DaemonContext) {
        applications.handle(event, devices, isPowered: state.isPowered, &context)
    }

    mutating func handle(_ event: PairingEvent, _ context: inout DaemonContext) {
        switch event {
        case .requested(let request, let peer, let question):
            pairing.ask(question, request, of: devices[peer], isPairable: state.isPairable, &context)
        case .cancelled(let request): pairing.cancelled(request, &context)
        case .paired(let peer, _, let isBonded): devices[peer]?.paired(isBonded: isBonded, &context)
        case .pairingFailed(let peer, _, let error):
            guard devices[peer] != nil else { return }
            devices[peer]?.pairingFailed(error, isOurs: pairing.takeRefusal(of: peer), &context)
        case .unpaired(let peer, _): devices[peer]?.showPaired(false, isBonded: false, &context)
        }
    }

    // MARK: Clients

    /// Ends the sessions, links and registrations of a client that left the bus.
    mutating func forget(_ client: String, _ context: inout DaemonContext) {
        if discovery.forget(client) { discoveryChanged(&context) }
        for peer in Array(devices.keys) { devices[peer]?.endSessions(of: client, &context) }
        endPendingCalls(of: client, &context)
        applications.forget(client, &context)
        advertisements.forget(client, &context)
        forgetMonitors(of: client, &context)
    }

    /// Cancels connects and pairings that the client asked for.
    private mutating func endPendingCalls(of client: String, _ context: inout DaemonContext) {
        for peer in Array(devices.keys) where devices[peer]?.connection.connect?.call?.sender == client {
            devices[peer]?.cancelConnect(.operationCancelled, &context)
        }
        for peer in Array(devices.keys) where devices[peer]?.security.pairing?.sender == client {
            pairing.reject(about: peer, isCancelled: false, &context)
            devices[peer]?.endPairing(BlueZError.authenticationCanceled, &context)
        }
    }
}
#endif
