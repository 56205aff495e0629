import BluetoothBackend
import DequeModule
import FoundationEssentials

/// The operations of a connected peripheral, and their answers.
extension CentralStateMachine {
    // MARK: Calls

    /// `readRSSI`, the discoveries, reads and the like (S55, S66); none before there is power (S141).
    mutating func request(
        _ handle: PeerHandle, _ kind: LinkOperation,
        within attribute: AttributeReference? = nil,
        _ command: (LinkID, OperationID) -> CentralCommand
    ) -> [CentralEffect] {
        let operation = newOperation()
        let isOn = state == .poweredOn
        let effect = update(handle) { peer -> CentralEffect in
            guard isOn, peer.state == .connected, let link = peer.link else { return .misuse(.notConnected(handle.id)) }
            if let attribute, attribute.link != link { return .misuse(.staleAttribute(attribute.id)) }
            peer.pending.append(PeerState.Pending(operation: operation, kind: kind))
            return .submit(command(link, operation))
        }
        return [effect ?? .misuse(.notConnected(handle.id))]
    }

    /// `writeValue` with response.
    ///
    /// Longer values than an attribute can have fail here (S81).
    mutating func write(
        _ handle: PeerHandle, _ kind: LinkOperation, to attribute: AttributeReference, _ value: Data
    ) -> [CentralEffect] {
        guard value.count <= Self.maximumAttributeLength else {
            return answerLocally(
                handle, kind, attribute, error: .att(0x0D, operation: "write of \(value.count) bytes, 512 at most"))
        }
        return request(handle, kind, within: attribute) {
            .write(link: $0, operation: $1, attribute: attribute.id, value: value)
        }
    }

    /// `writeValue` without response (S76, S78, S82...S84).
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
            let maximum = peer.maximumCommandLength
            guard value.count <= maximum else {
                return .misuse(.writeCommandTooLong(attribute.id, length: value.count, maximum: maximum))
            }
            guard peer.writeCredits > 0 else { return .misuse(.transmitQueueFull(attribute.id)) }
            peer.writeCredits -= 1
            peer.unsentWrites += 1
            return .submit(.writeCommand(link: link, attribute: attribute.id, value: value))
        }
        return [effect ?? .misuse(.notConnected(handle.id))]
    }

    /// `setNotifyValue` (S87...S90).
    mutating func setNotify(
        _ handle: PeerHandle, _ attribute: AttributeReference, properties: CharacteristicProperties, _ enabled: Bool
    ) -> [CentralEffect] {
        let kind = LinkOperation.notify(attribute.id, enabled)
        if properties.isDisjoint(with: [.notify, .indicate]) {
            return answerLocally(
                handle, kind, attribute, error: .att(0x06, operation: "subscribe without notify or indicate"))
        }
        if let peer = peer(handle), peer.notifying.contains(attribute.id) == enabled,
            !peer.pending.contains(where: { $0.kind.changesNotifying(attribute.id) })
        {
            return answerLocally(handle, kind, attribute, error: nil)
        }
        return request(handle, kind, within: attribute) {
            .setNotifying(link: $0, operation: $1, attribute: attribute.id, enabled: enabled)
        }
    }

    /// `openL2CAPChannel` (S148).
    ///
    /// An LE channel's number has eight bits. Source: Core Specification, Vol 3, Part A, 4.22.
    mutating func openChannel(_ handle: PeerHandle, psm: UInt16) -> [CentralEffect] {
        guard (1...0xFF).contains(psm) else {
            let error = BackendError(.invalidParameters, operation: "openL2CAPChannel(\(psm)), 1...255 only")
            return answerLocally(handle, .channel(psm), nil, error: error)
        }
        return request(handle, .channel(psm)) { .openChannel(link: $0, operation: $1, psm: psm) }
    }

    /// An answer that needs no radio; it waits for the operations before it (S66).
    private mutating func answerLocally(
        _ handle: PeerHandle, _ kind: LinkOperation, _ attribute: AttributeReference?, error: BackendError?
    ) -> [CentralEffect] {
        guard state == .poweredOn, let peer = peer(handle), peer.state == .connected, let link = peer.link else {
            return [.misuse(.notConnected(handle.id))]
        }
        if let attribute, attribute.link != link { return [.misuse(.staleAttribute(attribute.id))] }
        let pending = PeerState.Pending(operation: newOperation(), kind: kind, result: error, isLocal: true)
        guard peer.pending.isEmpty else {
            _ = update(handle.id) { $0.pending.append(pending) }
            return []
        }
        return [.complete(.operation(handle, link, pending.localAnswer))]
    }

    /// The most bytes that an attribute holds.
    ///
    /// Source: Core Specification, Vol 3, Part F, 3.2.9.
    private static let maximumAttributeLength = 512

    // MARK: Events

    /// An event of a link; those of dead links are dropped.
    mutating func handleLinkEvent(_ event: CentralEvent) -> [CentralEffect] {
        switch event {
        case .valueRead(let link, let operation, let value):
            answer(link, operation) { kind, _ in
                switch kind {
                case .readCharacteristic(let id): .characteristicRead(id, value)
                case .readDescriptor(let id): .descriptorRead(id, value)
                default: nil
                }
            }
        case .valueNotified(let link, let attribute, let value):
            onLink(link) { id, _ in [.callback(.notified(id, attribute, value))] }
        case .written(let link, let operation):
            answer(link, operation) { kind, _ in
                switch kind {
                case .writeCharacteristic(let id): .characteristicWritten(id)
                case .writeDescriptor(let id): .descriptorWritten(id)
                default: nil
                }
            }
        case .writeCredits(let link, let count):
            granted(count, on: link)
        case .mtuChanged(let link, let mtu):
            onLink(link) { _, peer in
                peer.mtu = mtu
                return []
            }
        case .notifyingChanged(let link, let operation, let isNotifying):
            answer(link, operation) { kind, peer in
                guard case .notify(let id, _) = kind else { return nil }
                peer.setNotifying(id, isNotifying)
                return .notifying(id, isNotifying)
            }
        case .operationFailed(let link, let operation, let error):
            answer(link, operation) { kind, _ in .failed(kind, error) }
        case .servicesChanged(let link, let removed, _): servicesChanged(link, removed)
        case .channelOpened(let link, let operation, let channel, _): channelOpened(link, operation, channel)
        default: handleDiscovery(event)
        }
    }

    /// S85, S86.
    private mutating func granted(_ count: Int, on link: LinkID) -> [CentralEffect] {
        let announcesSentBursts = announcesSentBursts
        return onLink(link) { id, peer in
            let (hasRoomAgain, isAllSent) = peer.grantWrites(count)
            return hasRoomAgain || isAllSent && announcesSentBursts ? [.callback(.readyToWrite(id))] : []
        }
    }

    /// GAP, GATT and HID, which Apple keeps from apps (S58).
    private static let hiddenServices: Set<BluetoothUUID> = ["1800", "1801", "1812"]

    private mutating func handleDiscovery(_ event: CentralEvent) -> [CentralEffect] {
        switch event {
        case .rssiRead(let link, let operation, let rssi):
            return answer(link, operation) { kind, _ in kind == .rssi ? .rssi(rssi) : nil }
        case .servicesDiscovered(let link, let operation, let all):
            let found = all.filter { !Self.hiddenServices.contains($0.uuid) }
            return answer(link, operation) { kind, peer in
                switch kind {
                case .services: .services(peer.database.addServices(found))
                case .includedServices(let id): .includedServices(id, peer.database.addIncluded(found, in: id))
                default: nil
                }
            }
        case .characteristicsDiscovered(let link, let operation, let found):
            return answer(link, operation) { kind, peer in
                guard case .characteristics(let id) = kind else { return nil }
                return .characteristics(id, peer.database.add(found, in: id))
            }
        case .descriptorsDiscovered(let link, let operation, let found):
            return answer(link, operation) { kind, peer in
                guard case .descriptors(let id) = kind else { return nil }
                return .descriptors(id, peer.database.add(found, in: id))
            }
        default:
            return []
        }
    }

    /// Matches an answer with its call; local answers that waited behind it follow.
    private mutating func answer(
        _ link: LinkID, _ operation: OperationID,
        _ body: (LinkOperation, inout PeerState) -> LinkAnswer?
    ) -> [CentralEffect] {
        onLink(link) { id, peer in
            guard let pending = peer.take(operation) else { return [] }
            let answer = body(pending.kind, &peer) ?? pending.mismatch
            var effects: [CentralEffect] = [.callback(.answered(id, link, answer))]
            while peer.pending.first?.isLocal == true, let next = peer.pending.popFirst() {
                effects.append(.callback(.answered(id, link, next.localAnswer)))
            }
            return effects
        }
    }

    private mutating func onLink(
        _ link: LinkID, _ body: (PeerID, inout PeerState) -> [CentralEffect]
    ) -> [CentralEffect] {
        guard let id = peerID(of: link) else { return [] }
        return update(id) { peer in peer.link == link ? body(id, &peer) : [] } ?? []
    }

    /// S101, S102.
    private mutating func servicesChanged(_ link: LinkID, _ removed: [AttributeID]) -> [CentralEffect] {
        onLink(link) { id, peer in
            let gone = peer.database.remove(removed)
            peer.notifying.subtract(gone.characteristics)
            return [.callback(.servicesModified(id, removed: gone.services))]
        }
    }

    /// A channel that nobody waits for any more is closed again.
    private mutating func channelOpened(
        _ link: LinkID, _ operation: OperationID, _ channel: ChannelID
    ) -> [CentralEffect] {
        var isTaken = false
        let effects = answer(link, operation) { kind, _ in
            guard case .channel(let psm) = kind else { return nil }
            isTaken = true
            return .channelOpened(psm, channel)
        }
        return isTaken ? effects : effects + [.closeChannel(channel)]
    }
}

extension LinkOperation {
    fileprivate func changesNotifying(_ id: AttributeID) -> Bool {
        if case .notify(id, _) = self { true } else { false }
    }
}

extension PeerState.Pending {
    /// The answer of an operation that the radio was not asked for.
    fileprivate var localAnswer: LinkAnswer {
        if let result { return .failed(kind, result) }
        guard case .notify(let id, let enabled) = kind else { return mismatch }
        return .notifying(id, enabled)
    }

    /// The answer does not fit the question: the backend is at fault, and the app must not wait for ever.
    fileprivate var mismatch: LinkAnswer {
        .failed(kind, BackendError(.unknown, operation: "an answer of another kind came"))
    }
}

extension PeerState {
    fileprivate mutating func setNotifying(_ id: AttributeID, _ isNotifying: Bool) {
        if isNotifying { notifying.insert(id) } else { notifying.remove(id) }
    }
}
