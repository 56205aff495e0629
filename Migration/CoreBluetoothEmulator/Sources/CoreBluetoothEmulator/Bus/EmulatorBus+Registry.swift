public import CoreBluetooth

/// The managers of the world.
extension EmulatorBus {
    /// Registers a central manager under an identifier; its own identifier is registered when it is created.
    public func register(central: EmulatedCBCentralManager, identifier: UUID) {
        central.world.register(central, as: identifier)
    }

    /// Ends the scan and the links of a central manager, and forgets its identifier.
    public func unregister(centralIdentifier: UUID) {
        for central in world.unregisterCentrals(centralIdentifier) {
            central.stopScan()
            for peripheral in central.peripherals where peripheral.core.state != .disconnected {
                central.cancelPeripheralConnection(peripheral)
            }
        }
    }

    /// Registers a peripheral manager under an identifier; its own identifier is registered when it is created.
    public func register(peripheral: EmulatedCBPeripheralManager, identifier: UUID) {
        peripheral.world.register(peripheral, as: identifier)
    }

    /// Ends the advertising and the links of a peripheral manager, and forgets its identifier.
    public func unregister(peripheralIdentifier: UUID) {
        for peripheral in world.unregisterPeripherals(peripheralIdentifier) {
            peripheral.stopAdvertising()
            peripheral.place.host.peripheral?.disconnect()
        }
    }

    /// Returns the identifiers of the central managers, in the order of their creation.
    public func getAllCentrals() -> [UUID] { world.centralIdentifiers }

    /// Returns the identifiers of the peripheral managers, in the order of their creation.
    public func getAllPeripherals() -> [UUID] { world.peripheralIdentifiers }

    /// Returns the identifiers of the peripherals that a central manager is connected to.
    public func getConnectedPeripherals(for centralIdentifier: UUID) -> [UUID] {
        let peripherals = world.central(centralIdentifier)?.peripherals ?? []
        return peripherals.filter { $0.state == .connected }.map(\.identifier).sorted { $0.uuidString < $1.uuidString }
    }

    /// Returns whether a central manager is connected to a peripheral.
    public func isConnected(centralIdentifier: UUID, peripheralIdentifier: UUID) -> Bool {
        world.central(centralIdentifier)?.knownPeripheral(peripheralIdentifier)?.state == .connected
    }

    /// Returns a central manager's object of a peripheral; nil for unknown managers.
    public func getPeripheralProxy(
        peripheralIdentifier: UUID, centralIdentifier: UUID
    ) async -> EmulatedCBPeripheral? {
        let world = world
        guard let central = world.central(centralIdentifier) else { return nil }
        if let known = central.knownPeripheral(peripheralIdentifier) { return known }
        guard let device = world.peripheral(peripheralIdentifier)?.place.host.peripheral else { return nil }
        central.place.host.remember(device)
        do {
            // The host learns it with the next advance, in virtual time.
            try await world.emulator?.clock.sleep(for: .zero)
        } catch {
            return nil
        }
        return central.retrievePeripherals(withIdentifiers: [peripheralIdentifier]).first
    }
}
