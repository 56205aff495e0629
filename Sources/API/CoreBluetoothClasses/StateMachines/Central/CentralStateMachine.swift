import BluetoothBackend

/// The state of a central manager: its adapter, its scan, its peripherals and their links.
///
/// Pure: an API call or an event of the backend goes in, effects come out. API calls take effect on the caller's
/// thread, events on the manager's queue, just before their callback.
struct CentralStateMachine {
    /// The adapter's state, as the delegate knows it.
    var state = AdapterState.unknown
    var isScanning = false
    /// The scan that an earlier process left, until there is power to go on with it.
    var restoredScan: ScanParameters?
    /// The filter of the connection events that the app registered for.
    var connectionEventFilter: ConnectionEventFilter?
    /// The peripherals with an object, by identifier.
    var peers: [PeerID: PeerState] = [:]
    var links: [LinkID: PeerID] = [:]
    var lastOperation = OperationID(rawValue: 0)
    /// Whether the app learns that all its write commands have left, besides that a full queue has room (S86).
    var announcesSentBursts = true
    /// Whether the app gave an identifier for restoration.
    let canRestore: Bool

    init(canRestore: Bool = false) { self.canRestore = canRestore }

    // MARK: Objects

    /// Registers an object for a peer, in place of an earlier one that is gone.
    ///
    /// A link of the earlier object passes to the new one, which must discover anew.
    mutating func adopt(_ handle: PeerHandle, name: String?) {
        guard let index = peers.index(forKey: handle.id) else {
            peers[handle.id] = PeerState(generation: handle.generation, name: name)
            return
        }
        peers.values[index].generation = handle.generation
        peers.values[index].client.database = AttributeDirectory()
    }

    /// Records that the last reference to an object is gone (S31).
    mutating func released(_ handle: PeerHandle) -> [CentralEffect] {
        guard let peer = peers[handle.id], peer.generation == handle.generation else { return [] }
        peers[handle.id] = nil
        if let link = peer.link { links[link] = nil }
        switch peer.state {
        case .disconnected, .disconnecting: return []
        case .connecting: return [.misuse(.unusedWhileConnecting(handle.id)), .submit(.disconnect(peer: handle.id))]
        case .connected: return [.misuse(.unusedWhileConnected(handle.id)), .submit(.disconnect(peer: handle.id))]
        }
    }

    /// The state of the peer that an object represents; nil if the object is stale (S15).
    func peer(_ handle: PeerHandle) -> PeerState? {
        guard let peer = peers[handle.id], peer.generation == handle.generation else { return nil }
        return peer
    }

    // MARK: Scanning

    /// Performs `scanForPeripherals` (S17...S24).
    mutating func scan(_ parameters: ScanParameters) -> [CentralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        isScanning = true
        return [.submit(.startScan(parameters))]
    }

    /// Performs `stopScan` (S23).
    mutating func stopScan() -> [CentralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        guard isScanning else { return [] }
        isScanning = false
        return [.submit(.stopScan)]
    }

    /// Performs `registerForConnectionEvents` (S155): nil clears, a new call replaces.
    mutating func registerForConnectionEvents(_ filter: ConnectionEventFilter?) -> [CentralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        connectionEventFilter = filter
        return [.submit(.setConnectionEventFilter(filter))]
    }

    // MARK: Connecting

    /// Performs `connect` (S34, S35, S39, S50).
    mutating func connect(
        _ handle: PeerHandle, options: ConnectOptions, startDelay: Duration
    ) -> [CentralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        guard var peer = peer(handle) else { return [.misuse(.stalePeripheral(handle.id))] }
        switch peer.state {
        case .connecting: return []
        case .connected: return [.complete(.connectedAgain(handle))]
        case .disconnected, .disconnecting: break
        }
        let operation = newOperation()
        peer.state = .connecting
        peer.connect = operation
        peers[handle.id] = peer
        guard startDelay > .zero else {
            return [.submit(.connect(peer: handle.id, operation: operation, options: options))]
        }
        return [.schedule(.startDelayOver(handle, operation, options), after: startDelay)]
    }

    /// Performs `cancelPeripheralConnection` (S40...S42).
    mutating func cancel(_ handle: PeerHandle) -> [CentralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        guard let peer = peer(handle) else { return [.misuse(.stalePeripheral(handle.id))] }
        switch peer.state {
        case .disconnected, .disconnecting:
            return []
        case .connecting:
            peers[handle.id]?.state = peer.link == nil ? .disconnected : .disconnecting
            peers[handle.id]?.connect = nil
            return [.submit(.disconnect(peer: handle.id)), .complete(.connectCancelled(handle))]
        case .connected:
            peers[handle.id]?.state = .disconnecting
            return [.submit(.disconnect(peer: handle.id))]
        }
    }

    // MARK: Completions without the backend

    /// Handles the completion of an API call, on the queue.
    mutating func handle(_ completion: CentralCompletion) -> [CentralEffect] {
        switch completion {
        case .connectedAgain(let handle):
            guard peer(handle)?.state == .connected else { return [] }
            return [.callback(.connected(handle.id))]
        case .connectCancelled(let handle):
            guard peer(handle) != nil else { return [] }
            return [.callback(.disconnected(handle.id, at: nil, isReconnecting: false, error: nil))]
        case .startDelayOver(let handle, let operation, let options):
            guard let peer = peer(handle), peer.connect == operation, peer.state == .connecting else { return [] }
            return [.submit(.connect(peer: handle.id, operation: operation, options: options))]
        case .response(let handle, let link, let request, let response):
            guard let peer = peer(handle), peer.link == link, peer.state == .connected else { return [] }
            return [.callback(.response(handle.id, link, request, response))]
        }
    }

    // MARK: Links

    mutating func newOperation() -> OperationID {
        lastOperation = lastOperation.next
        return lastOperation
    }

    /// Returns the peer of a link that is up, for the events of that link.
    func peerID(of link: LinkID) -> PeerID? {
        links[link]
    }

    /// Changes a peer in place: nil if the object is stale.
    ///
    /// A copy, even one that is only read, would make the change copy all that is pending.
    mutating func update<Result>(_ handle: PeerHandle, _ body: (inout PeerState) -> Result) -> Result? {
        update(handle.id) { peer in peer.generation == handle.generation ? body(&peer) : nil } ?? nil
    }

    mutating func update<Result>(_ id: PeerID, _ body: (inout PeerState) -> Result) -> Result? {
        guard let index = peers.index(forKey: id) else { return nil }
        return body(&peers.values[index])
    }
}

/// State restoration (S141, S142).
extension CentralStateMachine {
    /// Restores connections, connections under way and the scan.
    ///
    /// The peers' objects exist already. Nothing is sent before there is power. Without an identifier nothing is
    /// restored (S144).
    mutating func restore(_ restored: RestoredCentralState) -> [CentralEffect] {
        guard canRestore else { return [.misuse(.noRestoreIdentifier)] }
        for peer in restored.peers { restore(peer) }
        restoredScan = restored.scan
        isScanning = restored.scan != nil
        return [.callback(.willRestore(restored))]
    }

    private mutating func restore(_ restored: RestoredCentralState.Peer) {
        let id = restored.summary.id
        lastOperation = max(lastOperation, restored.operation)
        _ = update(id) { peer in
            peer.connect = restored.operation
            guard let link = restored.link else {
                peer.state = .connecting
                return
            }
            peer.state = .connected
            peer.link = link
            peer.client.mtu = restored.parameters?.mtu ?? peer.client.mtu
            peer.client.writeCredits = restored.parameters?.writeCredits ?? 0
            peer.client.database.apply(restored.services)
            for service in restored.services { peer.client.notifying.formUnion(service.notifying) }
        }
        if let link = restored.link, peers[id] != nil { links[link] = id }
    }
}
