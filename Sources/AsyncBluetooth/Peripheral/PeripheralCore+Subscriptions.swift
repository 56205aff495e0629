import CoreBluetooth

/// Notifications, from the first consumer of a characteristic to the last.
extension PeripheralCore {
    func removeConsumer(_ number: Int, of id: CharacteristicID) {
        transition { $0.removeConsumer(number, of: id) }
    }

    /// Subscribes, unless that was done; a loss of the link is waited out while somebody keeps the connection up.
    func subscribe(_ id: CharacteristicID) async throws {
        while true {
            do {
                return try await subscribeOnce(id)
            } catch let failure as Failure {
                guard case .disconnected = failure.reason, withState({ $0.maintenance.isActive }) else { throw failure }
            }
        }
    }

    private func subscribeOnce(_ id: CharacteristicID) async throws {
        let found = try await characteristic(id)
        try Task.checkCancellation()
        let waiter = Waiter<Answer>()
        let isOn = transition { state -> Bool? in
            guard state.link?.number == found.link else { return nil }
            // Where nobody consumes any more, the subscription failed, and the buffers say why.
            guard let subscription = state.subscriptions[id], !subscription.consumers.isEmpty else { return true }
            if subscription.phase == .on { return true }
            state.subscriptions[id]?.waiters.append(waiter)
            state.found(found.attribute, for: id)
            return false
        }
        guard let isOn else { throw Failure(.disconnected(nil)) }
        if isOn { return }
        _ = try await waiter.value { withState { $0.subscriptions[id]?.waiters.removeAll { $0 === waiter } } }
    }

    /// Ends all consumers of a characteristic, and waits until its subscription is off.
    func unsubscribe(_ id: CharacteristicID) async throws {
        try Task.checkCancellation()
        let waiter = Waiter<Answer>()
        guard transition({ $0.unsubscribe(id, waiter) }) else { return }
        _ = try await waiter.value { withState { $0.subscriptions[id]?.endWaiters.removeAll { $0 === waiter } } }
    }

    /// Subscribes anew, on a new link, to all that has consumers; what cannot be subscribed to any more ends.
    func resubscribe() async throws {
        let ids = withState { state in
            state.subscriptions.filter { $0.value.phase == .off && !$0.value.consumers.isEmpty }.keys.map { $0 }
        }
        for id in ids.sorted(by: { $0.description < $1.description }) {
            do {
                try await subscribeOnce(id)
            } catch let failure as Failure {
                if case .disconnected = failure.reason { throw failure }
                let context = BluetoothError.Context(
                    .notifications, peer: identifier, peerName: object.name, path: id.description)
                let consumers = withState { $0.subscriptions.removeValue(forKey: id)?.consumers } ?? []
                for consumer in consumers { consumer.finish(BluetoothError(context, failure.reason)) }
            }
        }
    }
}
