import BluetoothBackend
import BluetoothValues
import DequeModule
import FoundationEssentials

/// The operations of a connected peripheral, and their answers.
extension CentralStateMachine {
    // MARK: Calls

    /// Sends `readRSSI`, a discovery, a read or the like (S55, S66); nothing before the adapter is on (S141).
    mutating func request(
        _ handle: PeerHandle, _ request: LinkRequest, within attribute: AttributeReference? = nil
    ) -> [CentralEffect] {
        let operation = newOperation()
        let isOn = state == .poweredOn
        let effect = update(handle) { peer -> CentralEffect in
            guard isOn, peer.state == .connected, let link = peer.link else { return .misuse(.notConnected(handle.id)) }
            if let attribute, attribute.link != link { return .misuse(.staleAttribute(attribute.id)) }
            peer.client.pending.append(GATTClient.Pending(operation: operation, request: request))
            return .submit(.request(link: link, operation: operation, request))
        }
        return [effect ?? .misuse(.notConnected(handle.id))]
    }

    /// Performs `writeValue` with response.
    ///
    /// Values longer than an attribute can have fail here (S81).
    mutating func write(_ handle: PeerHandle, to attribute: AttributeReference, _ value: Data) -> [CentralEffect] {
        let write = LinkRequest.write(attribute.id, value)
        guard value.count <= ATTLimits.longestValue else {
            let error = BackendError.att(
                0x0D, operation: "write of \(value.count) bytes, \(ATTLimits.longestValue) at most")
            return respondLocally(handle, write, attribute, .failure(error))
        }
        return request(handle, write, within: attribute)
    }

    /// Performs `writeValue` without response (S76, S78, S82...S84).
    mutating func writeCommand(
        _ handle: PeerHandle, to attribute: AttributeReference, properties: CharacteristicProperties, _ value: Data
    ) -> [CentralEffect] {
        let isOn = state == .poweredOn
        let effect = update(handle) { peer -> CentralEffect in
            guard isOn, peer.state == .connected, let link = peer.link else { return .misuse(.notConnected(handle.id)) }
            guard attribute.link == link else { return .misuse(.staleAttribute(attribute.id)) }
            guard properties.contains(.writeWithoutResponse) else {
                return .misuse(.writeWithoutResponseNotSupported(attribute.id))
            }
            let maximum = peer.client.maximumCommandLength
            guard value.count <= maximum else {
                return .misuse(.writeCommandTooLong(attribute.id, length: value.count, maximum: maximum))
            }
            guard peer.client.writeCredits > 0 else { return .misuse(.transmitQueueFull(attribute.id)) }
            peer.client.sendCommand()
            return .submit(.writeCommand(link: link, attribute: attribute.id, value: value))
        }
        return [effect ?? .misuse(.notConnected(handle.id))]
    }

    /// Performs `setNotifyValue` (S87...S90).
    mutating func setNotify(
        _ handle: PeerHandle, _ attribute: AttributeReference, properties: CharacteristicProperties, _ enabled: Bool
    ) -> [CentralEffect] {
        let subscription = LinkRequest.setNotifying(attribute.id, enabled)
        if properties.isDisjoint(with: [.notify, .indicate]) {
            let error = BackendError.att(0x06, operation: "subscribe without notify or indicate")
            return respondLocally(handle, subscription, attribute, .failure(error))
        }
        if let peer = peer(handle), peer.client.notifying.contains(attribute.id) == enabled,
            !peer.client.pending.contains(where: { $0.request.changesSubscription(to: attribute.id) })
        {
            return respondLocally(handle, subscription, attribute, .notifying(enabled))
        }
        return request(handle, subscription, within: attribute)
    }

    /// Performs `openL2CAPChannel` (S148).
    ///
    /// An LE channel's number has eight bits. Source: Core Specification, Vol 3, Part A, 4.22.
    mutating func openChannel(_ handle: PeerHandle, psm: UInt16) -> [CentralEffect] {
        guard (1...0xFF).contains(psm) else {
            let error = BackendError(.invalidParameters, operation: "openL2CAPChannel(\(psm)), 1...255 only")
            return respondLocally(handle, .openChannel(psm: psm), nil, .failure(error))
        }
        return request(handle, .openChannel(psm: psm))
    }

    /// Responds to a request that never reaches the backend, after the requests before it (S66).
    private mutating func respondLocally(
        _ handle: PeerHandle, _ request: LinkRequest, _ attribute: AttributeReference?, _ response: LinkResponse
    ) -> [CentralEffect] {
        guard state == .poweredOn, let peer = peer(handle), peer.state == .connected, let link = peer.link else {
            return [.misuse(.notConnected(handle.id))]
        }
        if let attribute, attribute.link != link { return [.misuse(.staleAttribute(attribute.id))] }
        guard peer.client.pending.isEmpty else {
            let pending = GATTClient.Pending(operation: newOperation(), request: request, localResponse: response)
            _ = update(handle.id) { $0.client.pending.append(pending) }
            return []
        }
        return [.complete(.response(handle, link, request, response))]
    }

    // MARK: Events

    /// Handles an event of a link; the events of links that have ended are dropped.
    mutating func handleLinkEvent(_ event: CentralEvent) -> [CentralEffect] {
        switch event {
        case .response(let link, let operation, let response): responded(link, operation, response)
        case .valueNotified(let link, let attribute, let value):
            receiver(of: link).map { [.callback(.notified($0, attribute, value))] } ?? []
        case .subscriptionEnded(let link, let attribute, let error):
            onLink(link) { id, peer in
                guard peer.client.notifying.remove(attribute) != nil else { return [] }
                return [.callback(.subscriptionEnded(id, attribute, error))]
            }
        case .writeCredits(let link, let count):
            granted(count, on: link)
        case .mtuChanged(let link, let mtu):
            onLink(link) { _, peer in
                peer.client.mtu = mtu
                return []
            }
        case .servicesChanged(let link, let removed, _): servicesChanged(link, removed)
        default: []
        }
    }

    /// Returns the peer that a notification on a link belongs to; nil for a link that has ended.
    func receiver(of link: LinkID) -> PeerID? {
        guard let id = peerID(of: link), let index = peers.index(forKey: id), peers.values[index].link == link else {
            return nil
        }
        return id
    }

    /// Adds write credits to a link (S85, S86).
    private mutating func granted(_ count: Int, on link: LinkID) -> [CentralEffect] {
        let announcesSentBursts = announcesSentBursts
        return onLink(link) { id, peer in
            let (hasRoomAgain, isAllSent) = peer.client.grantWrites(count)
            return hasRoomAgain || isAllSent && announcesSentBursts ? [.callback(.readyToWrite(id))] : []
        }
    }

    /// Matches a response with its request; local responses that waited for it follow.
    private mutating func responded(
        _ link: LinkID, _ operation: OperationID, _ response: LinkResponse
    ) -> [CentralEffect] {
        var isExpected = false
        var effects = onLink(link) { id, peer in
            guard let pending = peer.client.removePending(operation) else { return [] }
            let accepted = peer.client.accept(response, to: pending.request)
            isExpected = accepted != nil
            var effects = [CentralEffect.callback(.response(id, link, pending.request, accepted ?? .mismatch))]
            while let next = peer.client.pending.first, let response = next.localResponse {
                peer.client.pending.removeFirst()
                effects.append(.callback(.response(id, link, next.request, response)))
            }
            return effects
        }
        // A channel that no request waits for is closed again.
        if case .channel(let channel, _) = response, !isExpected { effects.append(.closeChannel(channel)) }
        return effects
    }

    private mutating func onLink(
        _ link: LinkID, _ body: (PeerID, inout PeerState) -> [CentralEffect]
    ) -> [CentralEffect] {
        guard let id = peerID(of: link) else { return [] }
        return update(id) { peer in peer.link == link ? body(id, &peer) : [] } ?? []
    }

    /// Removes changed services (S101, S102).
    private mutating func servicesChanged(_ link: LinkID, _ removed: [AttributeID]) -> [CentralEffect] {
        onLink(link) { id, peer in
            let gone = peer.client.database.remove(removed)
            peer.client.notifying.subtract(gone.characteristics)
            return [.callback(.servicesModified(id, removed: gone.services))]
        }
    }
}

extension LinkRequest {
    fileprivate func changesSubscription(to id: AttributeID) -> Bool {
        if case .setNotifying(id, _) = self { true } else { false }
    }
}

extension LinkResponse {
    /// The failure for a response that does not fit the request: the backend is at fault, and the app must not wait
    /// forever.
    fileprivate static var mismatch: LinkResponse {
        .failure(BackendError(.unknown, operation: "an answer of another kind came"))
    }
}

extension GATTClient {
    /// GAP, GATT and HID, which Apple hides from apps (S58).
    private static let hiddenServices: Set<BluetoothUUID> = ["1800", "1801", "1812"]

    /// Records the content of a response about the peer.
    ///
    /// - Returns: The response for the app, with the attributes that are new to it; nil if it does not fit the request.
    fileprivate mutating func accept(_ response: LinkResponse, to request: LinkRequest) -> LinkResponse? {
        switch (request, response) {
        case (_, .failure), (.readRSSI, .rssi), (.read, .value), (.write, .written), (.openChannel, .channel):
            return response
        case (.discoverServices, .services(let found)), (.discoverIncludedServices, .services(let found)):
            return database.apply(.services(Self.visible(found)), of: request.attribute)
        case (.discoverCharacteristics, .characteristics), (.discoverDescriptors, .descriptors):
            return database.apply(response, of: request.attribute)
        case (.setNotifying(let id, _), .notifying(let isNotifying)):
            if isNotifying { notifying.insert(id) } else { notifying.remove(id) }
            return response
        default: return nil
        }
    }

    private static func visible(_ services: [ServiceRecord]) -> [ServiceRecord] {
        services.filter { !hiddenServices.contains($0.uuid) }
    }
}
