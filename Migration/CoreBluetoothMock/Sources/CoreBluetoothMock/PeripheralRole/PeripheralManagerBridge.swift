import CoreBluetooth

/// The delegate of a wrapped peripheral manager, which passes each callback to the wrapper.
final class PeripheralManagerBridge: NSObject, CBPeripheralManagerDelegate {
    let gate = Gate<CBMWrappedPeripheralManager>()

    /// Calls the delegate of the wrapper, if both exist.
    private func receive(
        _ body: @escaping (CBMWrappedPeripheralManager, any CBMPeripheralManagerDelegate) -> Void
    ) {
        gate.pass { owner in owner.deliver { body(owner, $0) } }
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        gate.pass { $0.stateUpdated() }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        gate.pass { owner in
            let state = owner.restored(dict)
            owner.deliver { $0.peripheralManager(owner, willRestoreState: state) }
        }
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        receive { $1.peripheralManagerDidStartAdvertising($0, error: error) }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        gate.pass { owner in
            guard let service = owner.wrap(service) else { return }
            owner.added(service, error)
            owner.deliver { $0.peripheralManager(owner, didAdd: service, error: error) }
        }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        gate.pass { owner in
            guard let characteristic = owner.subscribersChanged(characteristic) else { return }
            let central = owner.wrap(central)
            owner.deliver { $0.peripheralManager(owner, central: central, didSubscribeTo: characteristic) }
        }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        gate.pass { owner in
            guard let characteristic = owner.subscribersChanged(characteristic) else { return }
            let central = owner.wrap(central)
            owner.deliver { $0.peripheralManager(owner, central: central, didUnsubscribeFrom: characteristic) }
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        gate.pass { owner in
            guard owner.delegate != nil, let wrapper = owner.wrap(request) else {
                return peripheral.respond(to: request, withResult: .requestNotSupported)
            }
            owner.deliver { $0.peripheralManager(owner, didReceiveRead: wrapper) }
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let first = requests.first else { return }
        gate.pass { owner in
            let wrappers = requests.compactMap { owner.wrap($0) }
            guard owner.delegate != nil, wrappers.count == requests.count else {
                return peripheral.respond(to: first, withResult: .requestNotSupported)
            }
            owner.deliver { $0.peripheralManager(owner, didReceiveWrite: wrappers) }
        }
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
