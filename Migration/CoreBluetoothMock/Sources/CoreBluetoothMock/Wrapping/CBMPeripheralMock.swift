import CoreBluetooth

/// A peripheral of a simulated radio.
///
/// Two are equal if they are the same object; `hash` follows from the identifier.
///
/// Thread rule: all members may be used from any thread. Callbacks run on the manager's queue.
open class CBMPeripheralMock: CBMWrappedPeripheral {
    private let world: MockWorld

    init(_ peripheral: CBPeripheral, of manager: CBMCentralManagerMock, in world: MockWorld) {
        self.world = world
        super.init(peripheral, of: manager, identifier: world.identifier(of: peripheral.identifier))
    }

    private var device: SpecDevice? { world.device(of: wrapped.identifier) }

    override func receive(_ callback: PeripheralCallback) {
        var callback = callback
        if case .rssiRead(let rssi, nil) = callback, let manager = manager as? CBMCentralManagerMock {
            callback = .rssiRead(manager.varied(rssi), nil)
        }
        world.perform { [callback] in super.receive(callback) }
        if case .notificationStateUpdated(let characteristic, let error) = callback {
            tellDelegateOfSpec(of: characteristic, error)
        }
    }

    private func tellDelegateOfSpec(of characteristic: CBMCharacteristic, _ error: (any Error)?) {
        guard let spec = device?.spec, let delegate = spec.connectionDelegate,
            let server = (characteristic as? WrappedCharacteristic)?.server
        else { return }
        world.enqueueHook { delegate.peripheral(spec, didUpdateNotificationStateFor: server, error: error) }
    }

    override func server(of service: CBService, in parent: WrappedService?) -> CBMServiceMock? {
        if let parent {
            return parent.server?.includedMocks.counterpart(of: service, among: parent.wrapped.includedServices ?? [])
        }
        return device?.layout.primaries.counterpart(of: service, among: wrapped.services ?? [])
    }

    /// Follows from the identifier.
    open override var hash: Int { identifier.hashValue }

    /// Names identifier, mtu and state.
    open override var debugDescription: String {
        let mtu = wrapped.maximumWriteValueLength(for: .withoutResponse) + 3
        return "<CBMPeripheralMock: identifier = \(identifier), mtu = \(mtu), state = \(state)>"
    }
}
