import BluetoothBackend
import FoundationEssentials

extension PeripheralStateMachine {
    /// S136.
    mutating func subscribed(
        _ central: PeerID, to attribute: AttributeID, mtu: Int, credits: Int
    ) -> [PeripheralEffect] {
        guard state == .poweredOn, database.characteristic(attribute) != nil else { return [] }
        let mtu = max(mtu, 23)
        let isNew = subscribers.subscribe(central, to: attribute, mtu: mtu, credits: credits)
        return (isNew ? [.callback(.subscribed(central, attribute, mtu: mtu))] : []) + readiness()
    }

    /// S136.
    mutating func unsubscribed(_ central: PeerID, from attribute: AttributeID) -> [PeripheralEffect] {
        guard subscribers.unsubscribe(central, from: attribute) else { return [] }
        return [.callback(.unsubscribed(central, attribute))] + readiness()
    }

    /// S137.
    mutating func granted(_ count: Int, to central: PeerID) -> [PeripheralEffect] {
        subscribers.grant(count, to: central)
        return readiness()
    }

    /// S140.
    mutating func mtuChanged(_ central: PeerID, _ mtu: Int) -> [PeripheralEffect] {
        let mtu = max(mtu, 23)
        subscribers.changeMTU(of: central, to: mtu)
        return [.changeMTU(central, mtu)]
    }

    /// `updateValue` (S137...S139).
    ///
    /// - Returns: Whether it was queued for all targets; nothing was for any, if not.
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

    /// `setDesiredConnectionLatency` (S140).
    func setConnectionLatency(_ latency: ConnectionLatency, of central: PeerID) -> [PeripheralEffect] {
        guard state == .poweredOn else { return [.misuse(.notPoweredOn)] }
        return [.submit(.setConnectionLatency(central: central, latency: latency))]
    }

    /// Tells once that an update that was refused would go, or that all updates for some centrals have left (S137).
    mutating func readiness() -> [PeripheralEffect] {
        let (hasRoomAgain, isAllSent) = subscribers.takeReadiness()
        return hasRoomAgain || isAllSent && announcesSentBursts ? [.callback(.readyToUpdate)] : []
    }
}
