import BluetoothSupport
import CoreBluetooth

/// The manager's callbacks for this peripheral, on the manager's queue.
extension PeripheralCoordinator {
    func connected() {
        // A link that the app cancelled before this callback does not count.
        guard object.state == .connected else { return }
        log.debug(.connection, "connected to \(identifier)", context)
        transition { state in
            if state.connecting.isActive { state.beginLink() }
        }
    }

    func connectFailed(_ error: (any Error)?) {
        log.debug(.connection, "no connection to \(identifier)", context)
        transition { state in
            state.failConnects(.connectionFailed(error))
            if state.connecting.isClosing { state.endClosing() }
        }
    }

    func disconnected(_ error: (any Error)?) {
        log.debug(.connection, "disconnected from \(identifier)", context)
        transition { state in
            state.endLink(.disconnected(error))
            state.endClosing()
        }
    }

    /// Ends the link, because the adapter can no longer be used.
    func lostPower(_ new: CBManagerState) {
        transition { state in
            state.endLink(.unavailable(new))
            state.failConnects(.unavailable(new))
            state.endClosing()
            // All states but `poweredOff` make CoreBluetooth forget its objects.
            if new != .poweredOff { state.isStale = true }
        }
    }

    @discardableResult
    private func answered(
        _ kind: PeripheralCall.Key.Kind, _ error: (any Error)?, _ answer: CallResult = CallResult(),
        of attribute: CBAttribute? = nil
    ) -> Bool {
        let key = PeripheralCall.Key(kind: kind, attribute: attribute.map { ObjectIdentifier($0) })
        return transition { $0.answered(key, error.map { .failure($0) } ?? .success(answer)) }
    }
}

extension PeripheralCoordinator: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        log.debug(.discovery, "services of \(identifier) changed", context)
        transition { $0.forget(invalidatedServices) }
    }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        answered(.rssi, error, CallResult(rssi: RSSI.intValue))
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        answered(.services, error)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverIncludedServicesFor service: CBService, error: (any Error)?
    ) {
        answered(.includedServices, error, of: service)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        answered(.characteristics, error, of: service)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverDescriptorsFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        answered(.descriptors, error, of: characteristic)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        let value = characteristic.value ?? Data()
        guard error == nil, characteristic.isNotified else {
            answered(.read, error, CallResult(value: value), of: characteristic)
            return
        }
        let consumers = withState { state -> [Subscription.Consumer] in
            guard let id = state.link?.notifying[ObjectIdentifier(characteristic)] else { return [] }
            return state.subscriptions[id]?.consumers ?? []
        }
        for consumer in consumers { consumer.deliver(value) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        answered(.write, error, of: characteristic)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        guard !answered(.notify, error, of: characteristic), let error else { return }
        transition { $0.subscriptionEnded(characteristic, error) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?
    ) {
        answered(.read, error, CallResult(descriptor: DescriptorValue(descriptor.value)), of: descriptor)
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?) {
        answered(.write, error, of: descriptor)
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { pump() }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        let error = channel == nil ? error ?? CBError(system: .unknown) : nil
        answered(.channel, error, CallResult(channel: channel.map { Unchecked($0) }))
    }
}

#if !canImport(Darwin)
import CoreBluetoothClasses

extension CBCharacteristic {
    /// Whether the update of the present callback is a notification rather than the response to a read.
    ///
    /// For use within the callback.
    var isNotified: Bool { isLastUpdateNotification }
}
#else
extension CBCharacteristic {
    /// Whether the update of the present callback may be a notification; Apple's framework does not distinguish them.
    var isNotified: Bool { isNotifying }
}

extension CBPeripheral {
    /// Whether the object still represents its device; Apple's framework invalidates objects only when the adapter is
    /// reset.
    var isCurrent: Bool { true }
}
#endif
