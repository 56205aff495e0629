import BluetoothBackend
import FoundationEssentials

/// The events of the manager; those of links are in `CentralStateMachine+Link.swift`.
extension CentralStateMachine {
    mutating func handle(_ event: CentralEvent) -> [CentralEffect] {
        switch event {
        case .stateChanged(let new): changeState(to: new)
        case .discovered(let discovery): discovered(discovery)
        case .connected(let peer, let link, let operation, let parameters):
            connected(peer, link, operation, parameters)
        case .connectFailed(let peer, let operation, let error): connectFailed(peer, operation, error)
        case .disconnected(let link, let reason, let date, let isReconnecting, let error):
            disconnected(link, reason.error(carrying: error), at: date, isReconnecting)
        case .nameChanged(let peer, let name, _): rename(peer, name)
        case .peerForgotten(let peer): forgotten(peer)
        case .connectionEvent(let peer, let isConnected): connectionEvent(peer, isConnected)
        case .restored(let restored): restore(restored)
        case .ancsAuthorizationChanged(let peer, let isAuthorized): ancsChanged(peer, isAuthorized)
        case .authorizationChanged, .channel: []
        default: handleLinkEvent(event)
        }
    }

    /// Follows a change of the adapter's state (S5, S11...S15).
    private mutating func changeState(to new: AdapterState) -> [CentralEffect] {
        guard new != state else { return [] }
        state = new
        var effects: [CentralEffect] = []
        if new != .poweredOn {
            isScanning = false
            restoredScan = nil
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
        return effects + resume() + [.callback(.stateUpdated)]
    }

    /// Resumes the operations that survive a loss of power.
    private mutating func resume() -> [CentralEffect] {
        guard state == .poweredOn else { return [] }
        var effects: [CentralEffect] = []
        if let scan = restoredScan { effects.append(.submit(.startScan(scan))) }
        restoredScan = nil
        if let filter = connectionEventFilter { effects.append(.submit(.setConnectionEventFilter(filter))) }
        return effects
    }

    private mutating func discovered(_ discovery: Discovery) -> [CentralEffect] {
        guard isScanning else { return [] }
        return rename(discovery.peer, discovery.name) + [.callback(.discovered(discovery))]
    }

    /// Records that a link is up (S36).
    ///
    /// A link that the app has since cancelled is being closed already.
    private mutating func connected(
        _ id: PeerID, _ link: LinkID, _ operation: OperationID, _ parameters: LinkParameters
    ) -> [CentralEffect] {
        guard var peer = peers[id], peer.connect == operation, peer.state == .connecting else { return [] }
        if let old = peer.link { links[old] = nil }
        peer.endLink()
        peer.connect = operation
        peer.state = .connected
        peer.link = link
        peer.client.mtu = parameters.mtu
        peer.client.writeCredits = parameters.writeCredits
        peers[id] = peer
        links[link] = id
        return [.callback(.connected(id))]
    }

    /// Records a failed connect (S37).
    private mutating func connectFailed(
        _ id: PeerID, _ operation: OperationID, _ error: BackendError
    ) -> [CentralEffect] {
        guard let peer = peers[id], peer.connect == operation, peer.state == .connecting else { return [] }
        peers[id]?.state = .disconnected
        peers[id]?.connect = nil
        return [.callback(.connectFailed(id, error))]
    }

    /// Records the end of a link (S40, S44...S48).
    ///
    /// The app's cancel wins over a reason that came at the same time.
    private mutating func disconnected(
        _ link: LinkID, _ reason: BackendError?, at date: Date, _ isReconnecting: Bool
    ) -> [CentralEffect] {
        guard let id = links.removeValue(forKey: link), var peer = peers[id], peer.link == link else { return [] }
        let wasAsked = peer.state == .disconnecting
        let isWantedAgain = peer.state == .connecting
        let connect = peer.connect
        let reason = peer.hasOverflowed ? BackendError.overflow : reason
        peer.endLink()
        if isReconnecting && !wasAsked || isWantedAgain {
            peer.state = .connecting
            peer.connect = connect
        } else {
            peer.state = .disconnected
        }
        peers[id] = peer
        let error = wasAsked || isWantedAgain ? nil : reason
        return [
            .invalidateAttributes(id),
            .callback(.disconnected(id, at: date, isReconnecting: isReconnecting && !wasAsked, error: error)),
        ]
    }

    /// Ends a link, because the app is too slow for its notifications and prefers to lose the link.
    mutating func overflowed(_ link: LinkID) -> [CentralEffect] {
        guard let id = links[link] else { return [] }
        return update(id) { peer in
            guard peer.link == link, peer.state == .connected else { return [] }
            peer.hasOverflowed = true
            return [.submit(.disconnect(peer: id))]
        } ?? []
    }

    /// Follows a change of a peer's name (S100).
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

    /// Reports a connection event (S155).
    ///
    /// An event that was under way when the app cleared its registration is not reported.
    private func connectionEvent(_ id: PeerID, _ isConnected: Bool) -> [CentralEffect] {
        connectionEventFilter == nil ? [] : [.callback(.connectionEvent(id, isConnected: isConnected))]
    }

    /// Follows a change of the ANCS authorization (S156).
    private mutating func ancsChanged(_ id: PeerID, _ isAuthorized: Bool) -> [CentralEffect] {
        guard let peer = peers[id], peer.isANCSAuthorized != isAuthorized else { return [] }
        peers[id]?.isANCSAuthorized = isAuthorized
        return [.callback(.ancsAuthorizationUpdated(id))]
    }
}

extension BackendError {
    fileprivate static var overflow: BackendError {
        BackendError(
            .outOfSpace, operation: "notifications",
            message: "The peripheral sent more notifications than the app took, and was disconnected.")
    }
}

extension DisconnectReason {
    /// The error of the reason; nil if the app requested the disconnection (S44).
    fileprivate func error(carrying original: OpaqueError?) -> BackendError? {
        var error = error
        error?.original = original
        return error
    }

    private var error: BackendError? {
        switch self {
        case .local: nil
        case .remote, .unknown: BackendError(.peerDisconnected, operation: "link")
        case .timeout: BackendError(.connectionTimeout, operation: "link")
        case .authentication: BackendError(.encryptionTimedOut, operation: "link")
        }
    }
}
