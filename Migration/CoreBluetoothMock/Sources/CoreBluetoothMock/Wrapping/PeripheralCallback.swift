import CoreBluetooth

/// A callback of a wrapped peripheral, as a value.
enum PeripheralCallback {
    case nameUpdated
    case servicesModified([CBMService])
    case rssiRead(NSNumber, (any Error)?)
    case servicesDiscovered((any Error)?)
    case includedServicesDiscovered(CBMService, (any Error)?)
    case characteristicsDiscovered(CBMService, (any Error)?)
    case valueUpdated(CBMCharacteristic, (any Error)?)
    case valueWritten(CBMCharacteristic, (any Error)?)
    case notificationStateUpdated(CBMCharacteristic, (any Error)?)
    case descriptorsDiscovered(CBMCharacteristic, (any Error)?)
    case descriptorUpdated(CBMDescriptor, (any Error)?)
    case descriptorWritten(CBMDescriptor, (any Error)?)
    case readyToWrite
    case channelOpened(CBML2CAPChannel?, (any Error)?)

    /// Calls the delegate method of the event.
    func call(_ delegate: any CBMPeripheralDelegate, of peripheral: any CBMPeripheral) {
        switch self {
        case .nameUpdated: delegate.peripheralDidUpdateName(peripheral)
        case .servicesModified(let services): delegate.peripheral(peripheral, didModifyServices: services)
        case .rssiRead(let rssi, let error): delegate.peripheral(peripheral, didReadRSSI: rssi, error: error)
        case .servicesDiscovered(let error): delegate.peripheral(peripheral, didDiscoverServices: error)
        case .includedServicesDiscovered(let service, let error):
            delegate.peripheral(peripheral, didDiscoverIncludedServicesFor: service, error: error)
        case .characteristicsDiscovered(let service, let error):
            delegate.peripheral(peripheral, didDiscoverCharacteristicsFor: service, error: error)
        case .valueUpdated(let characteristic, let error):
            delegate.peripheral(peripheral, didUpdateValueFor: characteristic, error: error)
        case .valueWritten(let characteristic, let error):
            delegate.peripheral(peripheral, didWriteValueFor: characteristic, error: error)
        case .notificationStateUpdated(let characteristic, let error):
            delegate.peripheral(peripheral, didUpdateNotificationStateFor: characteristic, error: error)
        case .descriptorsDiscovered(let characteristic, let error):
            delegate.peripheral(peripheral, didDiscoverDescriptorsFor: characteristic, error: error)
        case .descriptorUpdated(let descriptor, let error):
            delegate.peripheral(peripheral, didUpdateValueFor: descriptor, error: error)
        case .descriptorWritten(let descriptor, let error):
            delegate.peripheral(peripheral, didWriteValueFor: descriptor, error: error)
        case .readyToWrite: delegate.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
        case .channelOpened(let channel, let error): delegate.peripheral(peripheral, didOpen: channel, error: error)
        }
    }
}
