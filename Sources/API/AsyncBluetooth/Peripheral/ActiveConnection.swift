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
struct PeripheralCall {
    /// The key that matches a callback to its call: callbacks of one key come in the order of the calls.
    struct Key: Hashable {
        enum Kind {
            case rssi, services, channel, includedServices, characteristics, descriptors, read, write, notify
        }

        let kind: Kind
        /// Nil if the call concerns the peripheral.
        var attribute: ObjectIdentifier?
    }

    let key: Key
    let submit: (CBPeripheral) -> Void

    init(_ kind: Key.Kind, submit: @escaping (CBPeripheral) -> Void) {
        key = Key(kind: kind)
        self.submit = submit
    }

    init<Attribute: CBAttribute>(
        _ kind: Key.Kind, _ attribute: Attribute, submit: @escaping (CBPeripheral, Attribute) -> Void
    ) {
        key = Key(kind: kind, attribute: ObjectIdentifier(attribute))
        self.submit = { submit($0, attribute) }
    }
}

/// The answer to a call; only the property of its kind has a value.
struct CallResult: Sendable {
    var value: Data?
    var descriptor: DescriptorValue?
    var rssi: Int?
    var channel: Unchecked<CBL2CAPChannel>?
}

/// A discovery that is made once on each link, however many tasks need it.
enum DiscoveryKey: Hashable {
    case allServices
    case services(CBUUID)
    case attributes(PeripheralCall.Key)
}
