import BluetoothSupport
import CoreBluetooth

/// The attributes and the pending commands of one link; discarded with the link.
struct ActiveConnection {
    /// A command in the queue of its key.
    ///
    /// The first one of a queue was submitted to CoreBluetooth.
    struct QueuedCommand {
        enum Purpose {
            case waiter(Waiter<CallResult>)
            case discovery(DiscoveryKey)
            case subscription(CharacteristicID, isOn: Bool)

            var waiter: Waiter<CallResult>? { if case .waiter(let waiter) = self { waiter } else { nil } }
        }

        let command: PeripheralCall
        let purpose: Purpose
    }

    /// A write without response that waits for room.
    struct PendingWrite {
        let characteristic: CBCharacteristic
        let value: Data
        let waiter: Waiter<CallResult>
    }

    let number: Int
    private var queues: [PeripheralCall.Key: [QueuedCommand]] = [:]
    var demands: [DiscoveryKey: [Waiter<CallResult>]] = [:]
    var discovered: Set<DiscoveryKey> = []
    var characteristics: [CharacteristicID: CBCharacteristic] = [:]
    /// Included services that service discovery does not list.
    var included: [CBService] = []
    /// The paths of characteristics whose values are received.
    var notifying: [ObjectIdentifier: CharacteristicID] = [:]
    var writes: [PendingWrite] = []
    /// Tasks that wait for the end of the link.
    var ends: [Waiter<CallResult>] = []

    init(number: Int) { self.number = number }

    /// Appends a command to its queue.
    ///
    /// - Returns: The command, if it can be submitted now.
    mutating func enqueue(_ queued: QueuedCommand) -> PeripheralCall? {
        queues[queued.command.key, default: []].append(queued)
        return queues[queued.command.key]?.count == 1 ? queued.command : nil
    }

    /// Removes the command that a callback answers.
    ///
    /// - Returns: The command, and the next one to submit.
    mutating func removeFirst(_ key: PeripheralCall.Key) -> (queued: QueuedCommand, next: PeripheralCall?)? {
        guard let queued = queues[key]?.first else { return nil }
        queues[key]?.removeFirst()
        return (queued, queues[key]?.first?.command)
    }

    /// Removes a command whose waiter was cancelled.
    ///
    /// A submitted command stays: its late response must not complete the next one.
    mutating func withdraw(_ waiter: Waiter<CallResult>, _ key: PeripheralCall.Key) {
        guard let index = queues[key]?.firstIndex(where: { $0.purpose.waiter === waiter }), index > 0 else { return }
        queues[key]?.remove(at: index)
    }

    var waiters: [Waiter<CallResult>] {
        queues.values.joined().compactMap(\.purpose.waiter) + Array(demands.values.joined()) + writes.map(\.waiter)
    }

    mutating func forget(_ services: [CBService]) {
        discovered.removeAll()
        let gone = Set(services.map { ObjectIdentifier($0) })
        included.removeAll { gone.contains(ObjectIdentifier($0)) }
        characteristics = characteristics.filter { _, characteristic in
            characteristic.service.map { !gone.contains(ObjectIdentifier($0)) } ?? false
        }
    }
}

/// A call of `CBPeripheral` that a callback answers.
enum PeripheralCall {
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

    /// The discovery that the call makes.
    var discovery: DiscoveryKey {
        guard case .discoverServices(let uuids) = self else { return .attributes(key) }
        return uuids?.first.map { .services($0) } ?? .allServices
    }

    /// The key that matches a callback to its call: callbacks of one key come in the order of the calls.
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

enum CallResult: Sendable {
    case done
    case value(Data)
    case descriptor(DescriptorValue)
    case rssi(Int)
    case channel(Unchecked<CBL2CAPChannel>)
}

/// A discovery that is made once on each link, however many tasks need it.
enum DiscoveryKey: Hashable {
    case allServices
    case services(CBUUID)
    case attributes(PeripheralCall.Key)
}
