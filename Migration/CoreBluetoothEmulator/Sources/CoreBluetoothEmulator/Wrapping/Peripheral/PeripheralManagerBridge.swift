import CoreBluetooth

/// A bridge that passes the callbacks of CoreBluetooth's manager to the emulated one.
final class PeripheralManagerBridge: NSObject, CBPeripheralManagerDelegate {
    weak var manager: EmulatedCBPeripheralManager?

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) { manager?.didUpdateState() }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        manager?.willRestore(dict)
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        guard let manager else { return }
        manager.delegate?.peripheralManagerDidStartAdvertising(manager, error: error)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        manager?.didAdd(service, error)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        manager?.didChangeSubscription(of: central, to: characteristic, isOn: true)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        manager?.didChangeSubscription(of: central, to: characteristic, isOn: false)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard let manager else { return peripheral.respond(to: request, withResult: .unlikelyError) }
        manager.didReceiveRead(request)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        if let manager { return manager.didReceiveWrite(requests) }
        if let first = requests.first { peripheral.respond(to: first, withResult: .unlikelyError) }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { manager?.reportReady() }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        manager?.didPublish(PSM, error)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        manager?.didUnpublish(PSM, error)
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?
    ) {
        manager?.didOpen(channel, error)
    }
}
