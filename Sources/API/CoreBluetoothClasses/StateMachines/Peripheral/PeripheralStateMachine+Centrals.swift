import BluetoothBackend
import BluetoothValues
import DequeModule
import FoundationEssentials

/// A request that waits for the app.
struct HeldRequest: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        /// A read, whose answer carries at most this number of bytes.
        case read(longest: Int)
        case write
    }

    let kind: Kind
    let central: PeerID
    /// The attribute that is read or written; if there are several, the first one.
    let attribute: AttributeID
}

extension PeripheralStateMachine {
    /// Handles a read request (S108, S109, S125, S129).
    mutating func readRequested(
        _ request: RequestID, _ central: PeerID, _ attribute: AttributeID, offset: Int, mtu: Int
    ) -> [PeripheralEffect] {
        guard state == .poweredOn else { return [] }
        let mtu = max(mtu, ATTLimits.minimumMTU)
        guard let characteristic = database.characteristic(attribute) else { return answer(request, .invalidHandle) }
        guard characteristic.permissions.allowReading else { return answer(request, .readNotPermitted) }
        guard offset >= 0 else { return answer(request, .invalidOffset) }
        if let value = characteristic.staticValue {
            guard offset <= value.count else { return answer(request, .invalidOffset) }
            return answer(request, ATTCode(rawValue: 0), value.dropFirst(offset), longest: ATTLimits.read(mtu: mtu))
        }
        requests[request] = HeldRequest(
            kind: .read(longest: ATTLimits.read(mtu: mtu)), central: central, attribute: attribute)
        return [.callback(.readReceived(request, central, attribute, offset: offset, mtu: mtu))]
    }

    /// Handles a write request (S109, S129...S132).
    mutating func writeRequested(
        _ request: RequestID, _ central: PeerID, _ parts: [WritePart], mtu: Int, wantsResponse: Bool = true
    ) -> [PeripheralEffect] {
        guard state == .poweredOn else { return [] }
        guard let first = parts.first else { return answer(request, ATTCode(rawValue: 0)) }
        for part in parts {
            guard let characteristic = database.characteristic(part.attribute) else {
                return answer(request, .invalidHandle)
            }
            guard characteristic.permissions.allowWriting else { return answer(request, .writeNotPermitted) }
        }
        requests[request] = HeldRequest(kind: .write, central: central, attribute: first.attribute)
        if !wantsResponse { holdNoLongerThanLast(request) }
        return [.callback(.writeReceived(request, central, parts, mtu: max(mtu, ATTLimits.minimumMTU)))]
    }

    /// Holds a write command, and drops the oldest held one: a command needs no response, so no backend ends its wait.
    private mutating func holdNoLongerThanLast(_ command: RequestID) {
        writeCommands.append(command)
        if writeCommands.count > Self.heldWriteCommands, let oldest = writeCommands.popFirst() {
            requests[oldest] = nil
        }
    }

    /// The number of write commands to which the app can still respond.
    static let heldWriteCommands = 1024

    /// Forgets a request that the backend has answered in place of the app (S134).
    mutating func requestExpired(_ request: RequestID) -> [PeripheralEffect] {
        requests[request] = nil
        return []
    }

    /// Performs `respond`, once for each callback (S126...S128, S130, S134).
    ///
    /// - Parameters:
    ///   - part: The number of the request among those of its callback, from 0: any to refuse a write, the first to
    ///     grant it.
    mutating func respond(
        to request: RequestID, part: Int, attCode: UInt8, value: Data?
    ) -> [PeripheralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        switch requests[request]?.kind {
        case nil:
            return [.misuse(.notWaiting(request))]
        case .read(let longest):
            requests[request] = nil
            guard attCode == 0 else { return answer(request, ATTCode(rawValue: attCode)) }
            return answer(request, ATTCode(rawValue: 0), value ?? Data(), longest: longest)
        case .write:
            guard part == 0 || attCode != 0 else { return [.misuse(.notTheFirst(request))] }
            requests[request] = nil
            return answer(request, ATTCode(rawValue: attCode))
        }
    }

    /// Refuses a request, because no delegate answers: the central need not wait for its timeout.
    mutating func nobodyAnswers(_ request: RequestID) -> [PeripheralEffect] {
        guard requests.removeValue(forKey: request) != nil else { return [] }
        return [.misuse(.nobodyAnswers(request))] + answer(request, .requestNotSupported)
    }

    private func answer(
        _ request: RequestID, _ code: ATTCode, _ value: Data? = nil, longest: Int = .max
    ) -> [PeripheralEffect] {
        let sent = value.map { $0.count > longest || $0.startIndex != 0 ? Data($0.prefix(longest)) : $0 }
        return [.submit(.respond(request: request, attCode: code.rawValue, value: sent))]
    }
}

extension PeripheralStateMachine {
    /// Adds a subscription (S136).
    mutating func subscribed(
        _ central: PeerID, to attribute: AttributeID, mtu: Int, credits: Int
    ) -> [PeripheralEffect] {
        guard state == .poweredOn, database.characteristic(attribute) != nil else { return [] }
        let mtu = max(mtu, ATTLimits.minimumMTU)
        let isNew = subscribers.subscribe(central, to: attribute, mtu: mtu, credits: credits)
        return (isNew ? [.callback(.subscribed(central, attribute, mtu: mtu))] : []) + readiness()
    }

    /// Removes a subscription (S136).
    mutating func unsubscribed(_ central: PeerID, from attribute: AttributeID) -> [PeripheralEffect] {
        guard subscribers.unsubscribe(central, from: attribute) else { return [] }
        return [.callback(.unsubscribed(central, attribute))] + readiness()
    }

    /// Adds credits for updates to a central (S137).
    mutating func granted(_ count: Int, to central: PeerID) -> [PeripheralEffect] {
        subscribers.grant(count, to: central)
        return readiness()
    }

    /// Follows a change of a central's ATT MTU (S140).
    mutating func mtuChanged(_ central: PeerID, _ mtu: Int) -> [PeripheralEffect] {
        let mtu = max(mtu, ATTLimits.minimumMTU)
        subscribers.changeMTU(of: central, to: mtu)
        return [.changeMTU(central, mtu)]
    }

    /// Performs `updateValue` (S137...S139).
    ///
    /// - Returns: Whether it was queued for all targets; if not, it was queued for none.
    mutating func updateValue(
        _ value: Data, of key: ObjectKey, _ uuid: BluetoothUUID, to centrals: Set<PeerID>?
    ) -> (isQueued: Bool, effects: [PeripheralEffect]) {
        guard state == .poweredOn else { return (false, [.misuse(.notPoweredOn)]) }
        guard let attribute = database[key], database.characteristic(attribute) != nil else {
            return (false, [.misuse(.notPublished(uuid))])
        }
        guard let batches = subscribers.send(value, of: attribute, to: centrals) else { return (false, []) }
        let effects = batches.map { batch in
            PeripheralEffect.submit(
                .updateValue(attribute: attribute, value: batch.value, centrals: batch.centrals))
        }
        return (true, effects)
    }

    /// Performs `setDesiredConnectionLatency` (S140).
    func setConnectionLatency(_ latency: ConnectionLatency, of central: PeerID) -> [PeripheralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        return [.submit(.setConnectionLatency(central: central, latency: latency))]
    }

    /// Reports once that a refused update would succeed now, or that all updates for some centrals were sent (S137).
    mutating func readiness() -> [PeripheralEffect] {
        let (hasRoomAgain, isAllSent) = subscribers.takeReadiness()
        return hasRoomAgain || isAllSent && announcesSentBursts ? [.callback(.readyToUpdate)] : []
    }
}
