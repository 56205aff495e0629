import CoreBluetooth

extension ContractTrace: CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        let new = peripheral.state
        change { $0.states.append(new) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        let advertisement = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
        let name = advertisement?[CBAdvertisementDataLocalNameKey] as? String
        let retained = services.map(Carried.init)
        record(.willRestoreServices(services.map(\.contract), advertising: name)) { $0.restoredServices = retained }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        record(.didStartAdvertising(isAdvertising: peripheral.isAdvertising), error)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        record(.didAdd(service.contract), error)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        record(.didSubscribe(characteristic.contract, subscribers: Self.subscribers(characteristic)))
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        record(.didUnsubscribe(characteristic.contract, subscribers: Self.subscribers(characteristic)))
    }

    private static func subscribers(_ characteristic: CBCharacteristic) -> Int {
        (characteristic as? CBMutableCharacteristic)?.subscribedCentrals?.count ?? 0
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let retained = Carried(request)
        record(
            .didReceiveRead(request.characteristic.contract, at: request.offset, request.value)
        ) { $0.requests.append(.read(retained)) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        let parts = requests.map { request in
            (request.characteristic.contract, request.offset, request.value ?? Data())
        }
        let retained = requests.map(Carried.init)
        record(.didReceiveWrite(parts)) { $0.requests.append(.write(retained)) }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        change { $0.readyCount += 1 }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        record(.didPublish(PSM), error) { $0.psms.append(PSM) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        record(.didUnpublish(PSM), error)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        record(channel?.peer is CBCentral ? .toCentral : .none, channel, error)
    }
}
