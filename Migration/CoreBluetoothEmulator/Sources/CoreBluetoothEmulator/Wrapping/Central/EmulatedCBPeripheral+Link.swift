import CoreBluetooth
import Foundation

/// The lifetime of the link.
extension EmulatedCBPeripheral {
    /// Overrides the state, until the link begins or ends.
    func setState(_ state: CBPeripheralState) { fields.withLock { $0.state = state } }

    /// Whether a link exists, regardless of an overridden state.
    var isLinked: Bool { manager?.core != nil && core.state == .connected }

    func linkBegan() {
        let waiting = fields.withLock { fields in
            defer { fields.waitingForLink = [] }
            fields.state = nil
            return fields.waitingForLink
        }
        for completion in waiting { completion(.success(())) }
    }

    /// Invalidates everything discovered on a link that has ended, and completes pending requests.
    func linkEnded(_ error: (any Error)?) {
        let old = fields.withLock { fields in
            defer {
                fields.state = nil
                fields.services = [:]
                fields.characteristics = [:]
                fields.waitingForLink = []
                fields.waitingForEnd = []
            }
            return (fields, fields.requests.removeAll())
        }
        world.state.withLock { $0.links.forget(link) }
        for completion in old.1 { completion(.failed(error ?? CBError(.notConnected))) }
        for completion in old.0.waitingForLink { completion(.failure(error ?? CBError(.operationCancelled))) }
        for completion in old.0.waitingForEnd { completion() }
    }

    /// Calls `completion` when the link is up, or will not be.
    func whenConnected(_ completion: @escaping (Result<Void, any Error>) -> Void) {
        fields.withLock { $0.waitingForLink.append(completion) }
    }

    /// Calls `completion` when the link is down.
    func whenDisconnected(_ completion: @escaping () -> Void) {
        fields.withLock { $0.waitingForEnd.append(completion) }
    }

    /// Records the subscriptions of a restored central.
    func setSubscriptions(_ subscribed: [CBCharacteristic]) {
        for found in subscribed { characteristic(for: found).setNotifying(true) }
    }

    /// Subscribes again, without a callback, to the characteristics of a restored central.
    func subscribeAgain() {
        for found in (core.services ?? []).flatMap({ $0.characteristics ?? [] })
        where characteristic(for: found).isNotifying && !found.isNotifying {
            request(.subscription(ObjectIdentifier(found)), { self.noteSubscription(to: found, $0) }) {
                core.setNotifyValue(true, for: found)
            }
        }
    }

    private func noteSubscription(to found: CBCharacteristic, _ outcome: RequestLedger.Outcome) {
        guard case .failed(let error) = outcome else { return }
        logWarning("the subscription to \(found.uuid) is not restored: \(error)")
    }

    /// Calls both delegates: writes without response are accepted again.
    func reportReady() {
        let delegate = delegate
        delegate?.peripheralIsReady(toSendWriteWithoutResponse: self)
        guard !world.configuration.followsApple, let central = manager?.delegate, central !== delegate else { return }
        central.peripheralIsReady(toSendWriteWithoutResponse: self)
    }

    /// Calls both delegates, from any thread.
    func reportReadyLater() {
        guard let manager else { return }
        world.emulator?.call(on: manager.queue) { self.reportReady() }
    }
}

/// The objects of discovered attributes.
extension EmulatedCBPeripheral {
    /// Returns the one object of a service on this link.
    func service(for core: CBService) -> EmulatedCBService {
        let key = ObjectIdentifier(core)
        if let known = fields.withLock({ $0.services[key] }) { return known }
        let new = EmulatedCBService(core, of: self)
        return fields.withLock { fields in
            let object = fields.services[key] ?? new
            fields.services[key] = object
            return object
        }
    }

    /// Returns the one object of a characteristic on this link.
    func characteristic(for core: CBCharacteristic) -> EmulatedCBCharacteristic {
        let key = ObjectIdentifier(core)
        if let known = fields.withLock({ $0.characteristics[key] }) { return known }
        let new = EmulatedCBCharacteristic(core, of: core.service.map(service))
        return fields.withLock { fields in
            let object = fields.characteristics[key] ?? new
            fields.characteristics[key] = object
            return object
        }
    }
}
