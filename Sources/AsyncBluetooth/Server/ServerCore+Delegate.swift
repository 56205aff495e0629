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

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        changeState(to: peripheral.state, peripheral)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        let waiter = withState { $0.additions.removeValue(forKey: ObjectIdentifier(service)) }
        waiter?.finish(error.map { .failure(Failure(.refused($0))) } ?? .success(()))
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        transition(peripheral) { $0.advertisingStarted(error) }
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
        let (id, buffers) = withState { state in
            (state.attributes[ObjectIdentifier(characteristic)]?.id, Array(state.subscriptionBuffers.values))
        }
        guard let id else { return }
        let told = event(id)
        for buffer in buffers { buffer.append(told) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        let waiter = transition(peripheral) { $0.published() }
        if let error {
            waiter?.finish(.failure(Failure(.refused(error))))
        } else if waiter?.finish(.success(PSM)) != true {
            // The caller does not wait any more.
            transition(peripheral) { $0.order(.unpublish(PSM)) }
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let channel else {
            return log.debug(
                .server, "a channel could not be opened: \(error?.localizedDescription ?? "no reason given")")
        }
        let buffers = withState { Array($0.channelBuffers.values) }
        let bytes = ByteChannel(Unchecked(channel))
        for buffer in buffers { buffer.append(bytes) }
    }
}
