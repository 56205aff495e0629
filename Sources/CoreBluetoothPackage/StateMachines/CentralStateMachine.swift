import BluetoothBackend
import DequeModule
import FoundationEssentials

/// What a central manager is: its adapter's state, its scan, its peripherals and their links.
///
/// Pure: an API call or an event of the backend goes in, effects come out. API calls take effect on the caller's
/// thread, events on the manager's queue, just before their callback.
struct CentralStateMachine {
    /// The adapter's state, as the delegate knows it.
    private(set) var state = AdapterState.unknown
    /// Whether this manager scans.
    private(set) var isScanning = false
    /// The peripherals with an object, by identifier.
    private(set) var peers: [PeerID: PeerState] = [:]
    private var links: [LinkID: PeerID] = [:]
    private var lastOperation = OperationID(rawValue: 0)

    // MARK: Objects

    /// Notes that an object stands for a peer now, in place of an earlier one that is gone.
    ///
    /// A link of the earlier object passes to the new one, which must discover anew.
    mutating func adopt(_ handle: PeerHandle, name: String?) {
        if peers[handle.id] == nil { peers[handle.id] = PeerState(generation: handle.generation, name: name) }
        peers[handle.id]?.generation = handle.generation
        peers[handle.id]?.database = DiscoveredDatabase()
    }

    /// The last reference to an object is gone (S31).
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

    /// The state of the peer that an object stands for; nil if the object is stale (S15).
    func peer(_ handle: PeerHandle) -> PeerState? {
        guard let peer = peers[handle.id], peer.generation == handle.generation else { return nil }
        return peer
    }

    // MARK: Scanning

    /// `scanForPeripherals` (S17...S24).
    mutating func scan(_ parameters: ScanParameters) -> [CentralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        isScanning = true
        return [.submit(.startScan(parameters))]
    }

    /// `stopScan` (S23).
    mutating func stopScan() -> [CentralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        guard isScanning else { return [] }
        isScanning = false
        return [.submit(.stopScan)]
    }

    /// `registerForConnectionEvents` (S155).
    func registerForConnectionEvents(_ filter: ConnectionEventFilter?) -> [CentralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        return [.submit(.setConnectionEventFilter(filter))]
    }

    // MARK: Connecting

    /// `connect` (S34, S35, S39, S50).
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

    /// `cancelPeripheralConnection` (S40...S42).
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

    // MARK: Completions that need no radio

    /// What an API call left to be told on the queue.
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
        case .operation(let handle, let link, let answer):
            guard let peer = peer(handle), peer.link == link, peer.state == .connected else { return [] }
            return [.callback(.answered(handle.id, answer))]
        }
    }

    // MARK: Events of the manager

    /// An event of the backend.
    mutating func handle(_ event: CentralEvent) -> [CentralEffect] {
        switch event {
        case .stateChanged(let new): changeState(to: new)
        case .discovered(let discovery): discovered(discovery)
        case .connected(let peer, let link, let operation, let parameters):
            connected(peer, link, operation, parameters)
        case .connectFailed(let peer, let operation, let error): connectFailed(peer, operation, error)
        case .disconnected(let link, let reason, let date, let isReconnecting):
            disconnected(link, reason, at: date, isReconnecting)
        case .nameChanged(let peer, let name, _): rename(peer, name)
        case .peerForgotten(let peer): forgotten(peer)
        case .connectionEvent(let peer, let isConnected): [.callback(.connectionEvent(peer, isConnected: isConnected))]
        case .ancsAuthorizationChanged(let peer, let isAuthorized): ancsChanged(peer, isAuthorized)
        case .authorizationChanged, .restored, .channelReceived, .channelCredits, .channelClosed: []
        default: handleLinkEvent(event)
        }
    }

    /// S5, S11...S15.
    private mutating func changeState(to new: AdapterState) -> [CentralEffect] {
        guard new != state else { return [] }
        state = new
        var effects: [CentralEffect] = []
        if new != .poweredOn {
            isScanning = false
            links = [:]
            for id in peers.keys where peers[id]?.state != .disconnected {
                peers[id]?.endLink()
                peers[id]?.state = .disconnected
                effects.append(.invalidateAttributes(id))
            }
        }
        if new != .poweredOn && new != .poweredOff {
            peers = [:]
            effects.append(.invalidatePeripherals)
        }
        return effects + [.callback(.stateUpdated)]
    }

    private mutating func discovered(_ discovery: Discovery) -> [CentralEffect] {
        guard isScanning else { return [] }
        return rename(discovery.peer, discovery.name) + [.callback(.discovered(discovery))]
    }

    /// S36.
    ///
    /// A link that nobody waits for any more is being given up already.
    private mutating func connected(
        _ id: PeerID, _ link: LinkID, _ operation: OperationID, _ parameters: LinkParameters
    ) -> [CentralEffect] {
        guard var peer = peers[id], peer.connect == operation, peer.state == .connecting else { return [] }
        if let old = peer.link { links[old] = nil }
        peer.endLink()
        peer.connect = operation
        peer.state = .connected
        peer.link = link
        peer.mtu = parameters.mtu
        peer.writeCredits = parameters.writeCredits
        peers[id] = peer
        links[link] = id
        return [.callback(.connected(id))]
    }

    /// S37.
    private mutating func connectFailed(
        _ id: PeerID, _ operation: OperationID, _ error: BackendError
    ) -> [CentralEffect] {
        guard let peer = peers[id], peer.connect == operation, peer.state == .connecting else { return [] }
        peers[id]?.state = .disconnected
        peers[id]?.connect = nil
        return [.callback(.connectFailed(id, error))]
    }

    /// S40, S44...S48.
    ///
    /// The app's own cancel wins over a reason that came at the same time.
    private mutating func disconnected(
        _ link: LinkID, _ reason: DisconnectReason, at date: Date, _ isReconnecting: Bool
    ) -> [CentralEffect] {
        guard let id = links.removeValue(forKey: link), var peer = peers[id], peer.link == link else { return [] }
        let wasAsked = peer.state == .disconnecting
        let isWantedAgain = peer.state == .connecting
        let connect = peer.connect
        peer.endLink()
        if isReconnecting && !wasAsked || isWantedAgain {
            peer.state = .connecting
            peer.connect = connect
        } else {
            peer.state = .disconnected
        }
        peers[id] = peer
        let error = wasAsked || isWantedAgain ? nil : reason.error
        return [
            .invalidateAttributes(id),
            .callback(.disconnected(id, at: date, isReconnecting: isReconnecting && !wasAsked, error: error)),
        ]
    }

    /// S100.
    private mutating func rename(_ id: PeerID, _ name: String?) -> [CentralEffect] {
        guard let peer = peers[id], peer.name != name else { return [] }
        peers[id]?.name = name
        return [.callback(.nameUpdated(id, name))]
    }

    private mutating func forgotten(_ id: PeerID) -> [CentralEffect] {
        guard let peer = peers[id], peer.state == .disconnected else { return [] }
        peers[id] = nil
        return [.invalidatePeripheral(id)]
    }

    private mutating func ancsChanged(_ id: PeerID, _ isAuthorized: Bool) -> [CentralEffect] {
        guard peers[id] != nil else { return [] }
        peers[id]?.isANCSAuthorized = isAuthorized
        return [.callback(.ancsAuthorizationUpdated(id))]
    }

    // MARK: Links

    mutating func newOperation() -> OperationID {
        lastOperation = lastOperation.next
        return lastOperation
    }

    /// The peer of a link that is up, for the events of that link.
    func peerID(of link: LinkID) -> PeerID? {
        links[link]
    }

    /// Changes a peer in place: nil if the object is stale.
    ///
    /// A copy, even one that is only read, would make the change copy all that is pending.
    mutating func update<Result>(_ handle: PeerHandle, _ body: (inout PeerState) -> Result) -> Result? {
        update(handle.id) { peer in peer.generation == handle.generation ? body(&peer) : nil } ?? nil
    }

    /// Changes a peer in place.
    mutating func update<Result>(_ id: PeerID, _ body: (inout PeerState) -> Result) -> Result? {
        guard let index = peers.index(forKey: id) else { return nil }
        return body(&peers.values[index])
    }
}

extension DisconnectReason {
    /// S44; nil where the app asked.
    fileprivate var error: BackendError? {
        switch self {
        case .local: nil
        case .remote, .unknown: BackendError(.peerDisconnected, operation: "link")
        case .timeout: BackendError(.connectionTimeout, operation: "link")
        case .authentication: BackendError(.encryptionTimedOut, operation: "link")
        }
    }
}
