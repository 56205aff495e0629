import BluetoothBackend

/// Who subscribes to what on a device, as follows from what happens to it.
struct Subscribers: Hashable, Sendable {
    /// The first subscriber of a characteristic came, or its last one went.
    enum Change: Hashable, Sendable {
        case began(BluetoothUUID)
        case ended(BluetoothUUID)
    }

    private var centrals: [BluetoothUUID: Set<DeviceAddress>] = [:]

    /// Takes note, and says what changed; a disconnection can end several.
    mutating func note(_ event: DeviceEvent) -> [Change] {
        switch event {
        case .subscribed(let central, _, let characteristic):
            let isFirst = centrals[characteristic] == nil
            centrals[characteristic, default: []].insert(central.address)
            return isFirst ? [.began(characteristic)] : []
        case .unsubscribed(let central, _, let characteristic):
            return remove(central.address, from: characteristic)
        case .disconnected(let central):
            return centrals.keys.sorted().flatMap { remove(central.address, from: $0) }
        default: return []
        }
    }

    private mutating func remove(_ central: DeviceAddress, from characteristic: BluetoothUUID) -> [Change] {
        guard centrals[characteristic]?.remove(central) != nil, centrals[characteristic]?.isEmpty == true else {
            return []
        }
        centrals[characteristic] = nil
        return [.ended(characteristic)]
    }

    /// Whether anybody subscribes to a characteristic.
    func contains(_ characteristic: BluetoothUUID) -> Bool { centrals[characteristic] != nil }

    /// Whether that central does.
    func contains(_ characteristic: BluetoothUUID, from central: CentralIdentity) -> Bool {
        centrals[characteristic]?.contains(central.address) == true
    }
}
