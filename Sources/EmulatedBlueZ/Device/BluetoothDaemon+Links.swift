#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// The reason why a link ended.
enum LinkEnd: Sendable {
    case closed(DisconnectReason)
    /// The adapter was switched off.
    case notReady
    /// The device was removed.
    case removed

    /// The reason that clients receive.
    var reason: DisconnectReason {
        switch self {
        case .closed(let reason): reason
        case .notReady: .unknown
        case .removed: .local
        }
    }
}

// Connect and Disconnect, and the states of links.
extension BluetoothDaemon {
    mutating func handleCall(_ call: ClientCall, of peer: PeerID, on index: Int) throws(DBusError) {
        switch call.member {
        case "Connect": try connect(call, peer, on: index)
        case "Disconnect": disconnect(call, peer, on: index)
        case "Pair": try pair(call, peer, on: index)
        case "CancelPairing": try cancelPairing(call, peer, on: index)
        // A device without BR/EDR has no records to search, and none of its profiles is connected.
        case "ConnectProfile": throw connectingAProfileFails(call.arguments.first?.stringValue ?? "", on: index)
        case "DisconnectProfile": throw BlueZError.invalidArguments
        default: throw BlueZError.unknown(call, isObjectThere: true)
        }
    }

    private func connectingAProfileFails(_ uuid: String, on index: Int) -> DBusError {
        guard adapters[index].state.isPowered else {
            return BlueZError.notReady("br-connection-adapter-not-powered")
        }
        guard dialect >= .bluez5_82, !uuid.isEmpty, BluetoothUUID(uuid) == nil else {
            return BlueZError.failed("br-connection-sdp-search")
        }
        return BlueZError.invalidArguments("br-connection-invalid-argument")
    }

    // MARK: Connecting

    private mutating func connect(_ call: ClientCall, _ peer: PeerID, on index: Int) throws(DBusError) {
        guard let device = adapters[index].devices[peer] else {
            throw BlueZError.unknown(call, isObjectThere: false)
        }
        // The text of EIO, instead of the reason.
        guard adapters[index].state.isPowered else { throw BlueZError.failed("Input/output error") }
        // The kernel ends the link of a blocked device as soon as it opens.
        guard !device.security.isBlocked else {
            throw BlueZError.connect(BackendError(.peerDisconnected, operation: "connect"))
        }
        if dialect >= .bluez5_82, device.connection.connect != nil || device.security.pairing != nil {
            throw BlueZError.busy
        }
        // The call succeeds even while a `Disconnect` waits to end the link.
        guard device.connection.link == nil else { return answer(call.id) }
        guard device.connection.connect == nil else { throw BlueZError.alreadyConnecting }
        startConnecting(peer, on: index, for: call)
    }

    /// Connects, for a call or for a pairing.
    mutating func startConnecting(_ peer: PeerID, on index: Int, for call: ClientCall?) {
        let operation = nextOperation()
        adapters[index].devices[peer]?.connection.connect = DaemonDevice.PendingConnect(
            operation: operation, call: call)
        if adapters[index].devices[peer]?.hasPrivateAddress == false {
            adapters[index].devices[peer]?.isTemporary = false
        }
        output(
            .central(adapter: index, .connect(peer: peer, operation: operation, options: ConnectOptions())))
        output(
            .schedule(.connect(adapter: index, peer, operation), after: configuration.connectTimeout))
    }

    /// Fails a connect whose device was not heard in time.
    mutating func connectTimedOut(_ peer: PeerID, _ operation: OperationID, on index: Int) {
        guard adapters[index].devices[peer]?.connection.connect?.operation == operation else { return }
        output(.central(adapter: index, .disconnect(peer: peer)))
        connectFailed(peer, on: index, BackendError(.connectionTimeout, operation: "connect"))
    }

    mutating func connectFailed(_ peer: PeerID, on index: Int, _ error: BackendError) {
        guard let connect = adapters[index].devices[peer]?.connection.connect else { return }
        adapters[index].devices[peer]?.connection.connect = nil
        if let call = connect.call { refuse(call.id, BlueZError.connect(error)) }
        endPairing(of: peer, on: index, BlueZError.connectionAttemptFailed)
    }

    /// Opens a link; answers the call before the services are known.
    mutating func connected(_ peer: PeerID, _ link: LinkID, _ parameters: LinkParameters, on index: Int) {
        guard let device = adapters[index].devices[peer], let connect = device.connection.connect else {
            return output(.central(adapter: index, .disconnect(peer: peer)))
        }
        adapters[index].linkTable.links[link] = peer
        adapters[index].devices[peer]?.connection.connect = nil
        // The name in the device's database replaces the advertised one.
        setName(device.database.deviceName, of: peer, on: index)
        adapters[index].devices[peer]?.connection.link = DaemonDevice.OpenLink(
            id: link, mtu: parameters.mtu, credits: parameters.writeCredits)
        setWithBearer("Connected", true, at: device.path)
        if let call = connect.call { answer(call.id) }
        startPairing(of: peer, on: index)
        discoverServices(of: peer, on: index)
    }

    // MARK: Disconnecting

    /// Ends the link for all programs, after a delay; cancels a connect in progress at once.
    private mutating func disconnect(_ call: ClientCall, _ peer: PeerID, on index: Int) {
        guard let device = adapters[index].devices[peer] else { return answer(call.id) }
        if device.connection.connect != nil {
            output(.central(adapter: index, .disconnect(peer: peer)))
            connectFailed(peer, on: index, BackendError(.operationCancelled, operation: "connect"))
        }
        guard device.isConnected else { return answer(call.id) }
        endLinkLater(peer, on: index) { $0.calls.append(call.id) }
    }

    /// Ends the link after a delay, unless the end is already scheduled.
    ///
    /// - Parameter wait: Adds a call that is answered when the link ends.
    mutating func endLinkLater(
        _ peer: PeerID, on index: Int, _ wait: (inout DaemonDevice.PendingDisconnect) -> Void
    ) {
        let pending = adapters[index].devices[peer]?.connection.disconnect
        let number = pending?.number ?? nextNumber()
        var disconnect = pending ?? DaemonDevice.PendingDisconnect(number: number)
        wait(&disconnect)
        adapters[index].devices[peer]?.connection.disconnect = disconnect
        guard pending == nil else { return }
        guard configuration.disconnectDelay > .zero else { return closeLinks(with: peer, on: index) }
        output(.schedule(.disconnect(adapter: index, peer, number), after: configuration.disconnectDelay))
    }

    mutating func disconnectDelayPassed(_ peer: PeerID, _ number: UInt64, on index: Int) {
        guard adapters[index].devices[peer]?.connection.disconnect?.number == number else { return }
        closeLinks(with: peer, on: index)
    }

    /// Ends the adapter's own link with a device, and the link of the device to the adapter's services.
    mutating func closeLinks(with peer: PeerID, on index: Int, isForSecurity: Bool = false) {
        guard let device = adapters[index].devices[peer] else { return }
        if device.connection.link != nil { output(.central(adapter: index, .disconnect(peer: peer))) }
        if device.connection.isCentral {
            adapters[index].devices[peer]?.connection.isClosingCentral = true
            output(.host(adapter: index, .disconnectCentral(peer, isForSecurity: isForSecurity)))
        }
    }

    /// Handles the end of a link, whatever the reason.
    ///
    /// Sessions of `StartNotify` and the objects of the attributes stay.
    mutating func linkLost(_ peer: PeerID, on index: Int, _ end: LinkEnd) {
        guard let device = adapters[index].devices[peer] else { return }
        if let connect = device.connection.connect {
            adapters[index].devices[peer]?.connection.connect = nil
            let error =
                if case .notReady = end { BlueZError.failed("br-connection-adapter-not-powered") } else {
                    BlueZError.failed("br-connection-canceled")
                }
            // Without power, the controller itself cancels the connect.
            if case .removed = end { output(.central(adapter: index, .disconnect(peer: peer))) }
            if let call = connect.call { refuse(call.id, error) }
        }
        if let link = device.connection.link {
            adapters[index].linkTable.links[link.id] = nil
            adapters[index].devices[peer]?.connection.link = nil
            failOperations(of: peer, on: index)
            hideMTU(of: peer, on: index)
        }
        removeOwnBattery(at: device.path)
        closeSockets(of: peer, on: index)
        adapters[index].devices[peer]?.discovery = nil
        endPairing(of: peer, on: index, BlueZError.authenticationFailed)
        if case .closed = end {} else { adapters[index].devices[peer]?.connection.isCentral = false }
        guard adapters[index].devices[peer]?.isConnected == false else { return }
        showDisconnected(device, end.reason, on: index)
    }

    /// Shows that the device is no longer connected, in either role.
    private mutating func showDisconnected(_ device: DaemonDevice, _ reason: DisconnectReason, on index: Int) {
        guard device.isConnected else { return }
        set("ServicesResolved", .boolean(false), of: BlueZInterfaces.device, at: device.path)
        let pending = adapters[index].devices[device.peer]?.connection.disconnect
        adapters[index].devices[device.peer]?.connection.disconnect = nil
        for call in pending?.bearerCalls ?? [] { answer(call) }
        if dialect >= .bluez5_87 {
            if configuration.isExperimental {
                set("Connected", .boolean(false), of: BlueZInterfaces.bearer, at: device.path)
            }
            signalEnd(reason, of: BlueZInterfaces.bearer, at: device.path)
        }
        for call in pending?.calls ?? [] { answer(call) }
        if dialect >= .bluez5_87 { signalEnd(reason, of: BlueZInterfaces.device, at: device.path) }
        set("Connected", .boolean(false), of: BlueZInterfaces.device, at: device.path)
        guard adapters[index].devices[device.peer]?.isTemporary == true else { return }
        output(
            .schedule(.temporary(adapter: index, device.peer), after: configuration.temporaryTimeout))
    }

    // MARK: Centrals of the adapter's services

    /// Handles the connection of a central to the adapter's services, and creates its object.
    mutating func centralConnected(_ facts: PeerFacts, on index: Int) {
        guard adapters[index].state.isPresent else { return }
        if adapters[index].devices[facts.peer] == nil {
            let path = DaemonDevice.path(of: facts.address, on: adapters[index].path)
            if let former = adapters[index].peers[path] { removeObjects(of: former, on: index) }
            var device = DaemonDevice(peer: facts.peer, path: path, address: facts.address, isRandom: facts.isRandom)
            if let name = facts.name { device.setName(name) }
            device.heard.lastPacket = now
            add(device, on: index)
        }
        guard let device = adapters[index].devices[facts.peer], !device.connection.isCentral else { return }
        adapters[index].devices[facts.peer]?.connection.isCentral = true
        setWithBearer("Connected", true, at: device.path)
    }

    mutating func centralDisconnected(_ peer: PeerID, on index: Int) {
        guard let device = adapters[index].devices[peer], device.connection.isCentral else { return }
        adapters[index].devices[peer]?.connection.isCentral = false
        adapters[index].devices[peer]?.connection.isClosingCentral = false
        guard device.connection.link == nil else { return }
        endPairing(of: peer, on: index, BlueZError.authenticationFailed)
        showDisconnected(device, device.connection.isClosingCentral ? .local : .remote, on: index)
    }

    // MARK: Events

    mutating func handle(_ event: CentralEvent, on index: Int) {
        switch event {
        case .stateChanged(let state): stateChanged(state, on: index)
        case .discovered(let discovery): heard(discovery, on: index)
        case .connected(let peer, let link, _, let parameters): connected(peer, link, parameters, on: index)
        case .connectFailed(let peer, _, let error): connectFailed(peer, on: index, error)
        case .disconnected(let link, let reason, _, _, _):
            if let peer = adapters[index].linkTable.links[link] { linkLost(peer, on: index, .closed(reason)) }
        case .nameChanged(let peer, let name, let source):
            if source == .gap { adapters[index].devices[peer]?.database.deviceName = name }
            setName(name, of: peer, on: index)
        case .mtuChanged(let link, let mtu): mtuChanged(mtu, link, on: index)
        case .writeCredits(let link, let count): grantCredits(count, link, on: index)
        case .servicesChanged(let link, let removed, _): servicesChanged(link, removed, on: index)
        case .response(_, let operation, let response): responded(response, to: operation, on: index)
        case .valueNotified(let link, let attribute, let value):
            if let peer = adapters[index].linkTable.links[link] { notified(value, attribute, of: peer, on: index) }
        case .authorizationChanged, .restored, .peerForgotten, .connectionEvent, .ancsAuthorizationChanged, .channel,
            .subscriptionEnded:
            break  // these events are not visible in BlueZ
        }
    }

    mutating func fired(_ timer: DaemonTimer) {
        switch timer {
        case .temporary(let index, let peer): temporaryTimePassed(peer, on: index)
        case .connect(let index, let peer, let operation): connectTimedOut(peer, operation, on: index)
        case .disconnect(let index, let peer, let number): disconnectDelayPassed(peer, number, on: index)
        case .discoverableOver(let index, let number): discoverableOver(index, number)
        case .advertisementOver(let index, let id, let number): advertisementOver(id, number, on: index)
        case .advertisementHidden(let index, let id, let number): hideAdvertisement(id, number, on: index)
        case .monitored(let index, let key, let peer, let number): monitoredTimePassed(key, peer, number, on: index)
        }
    }
}
#endif
