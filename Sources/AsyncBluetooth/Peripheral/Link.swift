import CoreBluetooth

/// What is known and under way on one link; it ends with the link.
struct Link {
    /// A command that was called for, in the line of its key.
    ///
    /// The first one of a line is with CoreBluetooth.
    struct Slot {
        enum Purpose {
            case waiter(Waiter<Answer>)
            case discovery(DiscoveryKey)
            case subscription(CharacteristicID, isOn: Bool)
        }

        let command: Command
        let purpose: Purpose
    }

    /// A write without response that waits for room.
    struct PendingWrite {
        let characteristic: CBCharacteristic
        let value: Data
        let waiter: Waiter<Answer>
    }

    let number: Int
    private var lines: [Command.Key: [Slot]] = [:]
    var demands: [DiscoveryKey: [Waiter<Answer>]] = [:]
    var discovered: Set<DiscoveryKey> = []
    var characteristics: [CharacteristicID: CBCharacteristic] = [:]
    /// The services that others include, and that no discovery of services lists.
    var included: [CBService] = []
    /// Whose values go where.
    var notifying: [ObjectIdentifier: CharacteristicID] = [:]
    var writes: [PendingWrite] = []
    /// Those who wait for the end.
    var ends: [Waiter<Answer>] = []

    init(number: Int) { self.number = number }

    /// Puts a command in line.
    ///
    /// - Returns: The command, if it is its turn.
    mutating func enqueue(_ slot: Slot) -> Command? {
        lines[slot.command.key, default: []].append(slot)
        return lines[slot.command.key]?.count == 1 ? slot.command : nil
    }

    /// Takes the command that an answer is for.
    ///
    /// - Returns: The command, and the one whose turn it is now.
    mutating func take(_ key: Command.Key) -> (slot: Slot, next: Command?)? {
        guard let slot = lines[key]?.first else { return nil }
        lines[key]?.removeFirst()
        return (slot, lines[key]?.first?.command)
    }

    /// Takes back a command that nobody waits for any more.
    ///
    /// One that is with CoreBluetooth stays in its place: its late answer must not go to the next one.
    mutating func withdraw(_ waiter: Waiter<Answer>, _ key: Command.Key) {
        guard let index = lines[key]?.firstIndex(where: { $0.isOf(waiter) }), index > 0 else { return }
        lines[key]?.remove(at: index)
    }

    /// All who wait for anything on this link.
    var waiters: [Waiter<Answer>] {
        let called = lines.values.joined().compactMap { slot -> Waiter<Answer>? in
            if case .waiter(let waiter) = slot.purpose { waiter } else { nil }
        }
        return called + Array(demands.values.joined()) + writes.map(\.waiter)
    }

    /// Forgets what was found in services that are gone.
    mutating func forget(_ services: [CBService]) {
        discovered.removeAll()
        let gone = Set(services.map { ObjectIdentifier($0) })
        included.removeAll { gone.contains(ObjectIdentifier($0)) }
        characteristics = characteristics.filter { _, characteristic in
            characteristic.service.map { !gone.contains(ObjectIdentifier($0)) } ?? false
        }
    }
}

extension Link.Slot {
    fileprivate func isOf(_ waiter: Waiter<Answer>) -> Bool {
        if case .waiter(let own) = purpose { own === waiter } else { false }
    }
}
