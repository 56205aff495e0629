public import CoreBluetooth

/// The access of peripherals to the notifications of a central's phone.
extension EmulatorBus {
    /// Sets the authorization of a central.
    ///
    /// While ``EmulatorConfiguration/fireANCSAuthorizationUpdates``, all peripheral managers receive
    /// `peripheralManager(_:didUpdateANCSAuthorizationFor:)` whether it changes or not, and the central manager
    /// receives `centralManager(_:didUpdateANCSAuthorizationFor:)` for each connected peripheral whose authorization
    /// changes.
    public func updateANCSAuthorization(
        for centralIdentifier: UUID, status: CBPeripheralManagerAuthorizationStatus
    ) async {
        let world = world
        world.state.withLock { $0.links.ancsAuthorizations[centralIdentifier] = status.rawValue }
        guard world.configuration.fireANCSAuthorizationUpdates, let emulator = world.emulator else { return }
        for peripheral in world.peripherals {
            emulator.call(on: peripheral.queue) { [weak peripheral] in
                guard let peripheral else { return }
                peripheral.delegate?.peripheralManager(
                    peripheral, didUpdateANCSAuthorizationFor: peripheral.central(centralIdentifier))
            }
        }
        guard let central = world.central(centralIdentifier) else { return }
        for peripheral in central.peripherals where peripheral.state == .connected {
            guard let device = world.device(knownAs: peripheral.core.identifier, onHost: central.place.host.name) else {
                continue
            }
            central.place.host.setANCSAuthorized(status == .authorized, for: device)
        }
    }

    /// Returns the authorization of a central; `.notDetermined` if it was never set.
    public func getANCSAuthorization(for centralIdentifier: UUID) -> CBPeripheralManagerAuthorizationStatus {
        let number = world.state.withLock { $0.links.ancsAuthorizations[centralIdentifier] }
        return number.flatMap(CBPeripheralManagerAuthorizationStatus.init) ?? .notDetermined
    }
}
