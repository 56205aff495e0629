import CoreBluetooth

extension ContractTrace: CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { note(peripheral.state) }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        record("didStartAdvertising \(peripheral.isAdvertising)", error)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        record("didAdd \(service.uuid.short)", error)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        record("didSubscribe \(characteristic.uuid.short) of \(Self.subscribers(characteristic))", nil)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        record("didUnsubscribe \(characteristic.uuid.short) of \(Self.subscribers(characteristic))", nil)
    }

    private static func subscribers(_ characteristic: CBCharacteristic) -> Int {
        (characteristic as? CBMutableCharacteristic)?.subscribedCentrals?.count ?? 0
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        let value = request.value == nil ? "" : " with a value"
        note(
            .read(Carried(request)), "didReceiveRead \(request.characteristic.uuid.short) @\(request.offset)\(value)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        let parts = requests.map { request in
            let value = request.value ?? Data()
            let text = value.count > 8 ? "\(value.count) bytes" : value.hex
            return " \(request.characteristic.uuid.short) @\(request.offset) \(text)"
        }
        note(.write(requests.map(Carried.init)), "didReceiveWrite" + parts.joined())
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { noteReady() }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        note(psm: PSM, "didPublish \((0x80...0xFF).contains(PSM) ? "dynamic PSM" : "\(PSM)")", error)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        record("didUnpublish \((0x80...0xFF).contains(PSM) ? "dynamic PSM" : "\(PSM)")", error)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        note(channel, "didOpen \(channel?.peer is CBCentral ? "channel of a central" : "nil")", error)
    }
}
