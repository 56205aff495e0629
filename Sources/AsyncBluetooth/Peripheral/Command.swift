import BluetoothLocking
import CoreBluetooth

/// A call of `CBPeripheral` that a callback answers.
enum Command {
    case readRSSI
    case discoverServices([CBUUID]?)
    case discoverIncludedServices(CBService)
    case discoverCharacteristics(CBService)
    case discoverDescriptors(CBCharacteristic)
    case read(CBCharacteristic)
    case readDescriptor(CBDescriptor)
    case write(CBCharacteristic, Data)
    case writeDescriptor(CBDescriptor, Data)
    case setNotify(CBCharacteristic, Bool)
    case openChannel(CBL2CAPPSM)

    /// By what an answer finds its command: answers of one key come in the order of the calls.
    enum Key: Hashable {
        case rssi, services, channel
        case includedServices(ObjectIdentifier)
        case characteristics(ObjectIdentifier)
        case descriptors(ObjectIdentifier)
        case read(ObjectIdentifier)
        case write(ObjectIdentifier)
        case notify(ObjectIdentifier)
    }

    var key: Key {
        switch self {
        case .readRSSI: .rssi
        case .discoverServices: .services
        case .openChannel: .channel
        case .discoverIncludedServices(let service): .includedServices(ObjectIdentifier(service))
        case .discoverCharacteristics(let service): .characteristics(ObjectIdentifier(service))
        case .discoverDescriptors(let characteristic): .descriptors(ObjectIdentifier(characteristic))
        case .read(let characteristic): .read(ObjectIdentifier(characteristic))
        case .readDescriptor(let descriptor): .read(ObjectIdentifier(descriptor))
        case .write(let characteristic, _): .write(ObjectIdentifier(characteristic))
        case .writeDescriptor(let descriptor, _): .write(ObjectIdentifier(descriptor))
        case .setNotify(let characteristic, _): .notify(ObjectIdentifier(characteristic))
        }
    }

    /// Makes the call.
    func submit(to peripheral: CBPeripheral) {
        switch self {
        case .readRSSI: peripheral.readRSSI()
        case .discoverServices(let uuids): peripheral.discoverServices(uuids)
        case .discoverIncludedServices(let service): peripheral.discoverIncludedServices(nil, for: service)
        case .discoverCharacteristics(let service): peripheral.discoverCharacteristics(nil, for: service)
        case .discoverDescriptors(let characteristic): peripheral.discoverDescriptors(for: characteristic)
        case .read(let characteristic): peripheral.readValue(for: characteristic)
        case .readDescriptor(let descriptor): peripheral.readValue(for: descriptor)
        case .write(let characteristic, let value):
            peripheral.writeValue(value, for: characteristic, type: .withResponse)
        case .writeDescriptor(let descriptor, let value): peripheral.writeValue(value, for: descriptor)
        case .setNotify(let characteristic, let isOn): peripheral.setNotifyValue(isOn, for: characteristic)
        case .openChannel(let psm): peripheral.openL2CAPChannel(psm)
        }
    }
}

/// What a command's callback brought.
enum Answer: Sendable {
    case done
    case value(Data)
    case descriptor(DescriptorValue)
    case rssi(Int)
    case channel(Unchecked<CBL2CAPChannel>)
}

/// What is looked for once on each link, however many ask.
enum DiscoveryKey: Hashable {
    case allServices
    case services(CBUUID)
    case includedServices(ObjectIdentifier)
    case characteristics(ObjectIdentifier)
    case descriptors(ObjectIdentifier)
}
