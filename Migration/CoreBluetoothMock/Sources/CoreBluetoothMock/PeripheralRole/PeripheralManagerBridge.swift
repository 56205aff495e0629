import CoreBluetooth

/// The delegate of a wrapped peripheral manager, which hands each callback to the wrapper.
final class PeripheralManagerBridge: NSObject, CBPeripheralManagerDelegate {
    let gate = Gate<CBMWrappedPeripheralManager>()

    /// Calls the delegate of the wrapper, if there are both.
    private func receive(
        _ body: (CBMWrappedPeripheralManager, any CBMPeripheralManagerDelegate) -> Void
    ) {
        guard let owner = gate.present else { return }
        owner.deliver { body(owner, $0) }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        receive { $1.peripheralManagerDidUpdateState($0) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        guard let state = gate.present?.restored(dict) else { return }
        receive { $1.peripheralManager($0, willRestoreState: state) }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        receive { $1.peripheralManagerDidStartAdvertising($0, error: error) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        guard let owner = gate.present, let service = owner.wrap(service) else { return }
        owner.added(service, error)
        receive { $1.peripheralManager($0, didAdd: service, error: error) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        guard let (owner, characteristic) = subscribersChanged(characteristic) else { return }
        let central = owner.wrap(central)
        receive { $1.peripheralManager($0, central: central, didSubscribeTo: characteristic) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        guard let (owner, characteristic) = subscribersChanged(characteristic) else { return }
        let central = owner.wrap(central)
        receive { $1.peripheralManager($0, central: central, didUnsubscribeFrom: characteristic) }
    }

    private func subscribersChanged(
        _ characteristic: CBCharacteristic
    ) -> (CBMWrappedPeripheralManager, CBMMutableCharacteristic)? {
        guard let owner = gate.present, let wrapper = owner.wrap(characteristic) else { return nil }
        wrapper.setSubscribers((wrapper.wrapped.subscribedCentrals ?? []).map { owner.wrap($0) })
        return (owner, wrapper)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard let owner = gate.present, owner.delegate != nil, let wrapper = owner.wrap(request) else {
            return peripheral.respond(to: request, withResult: .requestNotSupported)
        }
        receive { $1.peripheralManager($0, didReceiveRead: wrapper) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let first = requests.first else { return }
        guard let owner = gate.present, owner.delegate != nil else {
            return peripheral.respond(to: first, withResult: .requestNotSupported)
        }
        let wrappers = requests.compactMap { owner.wrap($0) }
        guard wrappers.count == requests.count else {
            return peripheral.respond(to: first, withResult: .unlikelyError)
        }
        receive { $1.peripheralManager($0, didReceiveWrite: wrappers) }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        receive { $1.peripheralManagerIsReady(toUpdateSubscribers: $0) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        receive { $1.peripheralManager($0, didPublishL2CAPChannel: PSM, error: error) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: (any Error)?
    ) {
        receive { $1.peripheralManager($0, didUnpublishL2CAPChannel: PSM, error: error) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        receive { $1.peripheralManager($0, didOpen: channel, error: error) }
    }
}
