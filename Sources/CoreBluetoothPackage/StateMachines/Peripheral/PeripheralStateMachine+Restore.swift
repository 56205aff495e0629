import BluetoothBackend

/// What an earlier process left behind (S141, S143).
extension PeripheralStateMachine {
    /// Takes over what is published, who subscribes, and the advertisement, which goes on when there is power.
    ///
    /// - Parameter keys: The objects of the services, in their order, each with those of its characteristics.
    mutating func restore(
        _ restored: RestoredPeripheralState, as keys: [(service: ObjectKey, characteristics: [ObjectKey])]
    ) -> [PeripheralEffect] {
        for (definition, keys) in zip(restored.services, keys) {
            database.restore(definition, as: keys.service, keys.characteristics)
        }
        for subscription in restored.subscriptions where database.characteristic(subscription.attribute) != nil {
            _ = subscribers.subscribe(
                subscription.central, to: subscription.attribute, mtu: max(subscription.mtu, 23), credits: 0)
        }
        if let advertisement = restored.advertisement { advertising.restore(advertisement) }
        return [.callback(.willRestore(restored))]
    }
}
