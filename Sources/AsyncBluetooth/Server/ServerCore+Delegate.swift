import BluetoothLocking
import CoreBluetooth

/// The manager's callbacks, on its queue.
extension ServerCore: CBPeripheralManagerDelegate {
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let advertised = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
        restore(
            dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? [],
            advertised.map { AdvertisedData($0) })
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { changeState(to: peripheral.state) }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        let waiter = withState { $0.additions.removeValue(forKey: ObjectIdentifier(service)) }
        waiter?.finish(error.map { .failure(Failure(.refused($0))) } ?? .success(()))
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        let waiter = withState { state in
            defer { state.advertising = nil }
            return state.advertising
        }
        waiter?.finish(error.map { .failure(Failure(.refused($0))) } ?? .success(()))
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { pump(peripheral) }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        tell(characteristic) { .subscribed(RemoteCentral(central), $0) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        tell(characteristic) { .unsubscribed(RemoteCentral(central), $0) }
        // What waited for this central's room alone goes to nobody now.
        pump(peripheral)
    }

    private func tell(_ characteristic: CBCharacteristic, _ event: (CharacteristicID) -> SubscriptionEvent) {
        let (id, feeds) = withState { state in
            (state.attributes[ObjectIdentifier(characteristic)]?.id, Array(state.subscriptionFeeds.values))
        }
        guard let id else { return }
        let told = event(id)
        for feed in feeds { feed.yield(told) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        let waiter = withState { $0.publishing.isEmpty ? nil : $0.publishing.removeFirst() }
        waiter?.finish(error.map { .failure(Failure(.refused($0))) } ?? .success(PSM))
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let channel else { return Log.debug(.server, "a channel could not be opened") }
        let feeds = withState { Array($0.channelFeeds.values) }
        let bytes = ByteChannel(Unchecked(channel))
        for feed in feeds { feed.yield(bytes) }
    }
}
