import BluetoothBackend
import BluetoothEmulator
import Foundation

/// The managers of a world, by identifier.
///
/// No manager is released under the lock: a copy shows whether it is alive.
extension EmulatedWorld {
    func register(_ central: EmulatedCBCentralManager, as identifier: UUID) {
        unregister(from: \.centrals) { $0.manager == nil || $0.manager === central }
        state.withLock { state in
            let serial = state.nextSerial()
            state.centrals.append(Registered(serial: serial, identifier: identifier, manager: central))
        }
    }

    func register(_ peripheral: EmulatedCBPeripheralManager, as identifier: UUID) {
        unregister(from: \.peripherals) { $0.manager == nil || $0.manager === peripheral }
        state.withLock { state in
            let serial = state.nextSerial()
            state.peripherals.append(Registered(serial: serial, identifier: identifier, manager: peripheral))
        }
    }

    /// - Returns: The managers that had the identifier.
    func unregisterCentrals(_ identifier: UUID) -> [EmulatedCBCentralManager] {
        unregister(from: \.centrals) { $0.identifier == identifier }
    }

    /// - Returns: The managers that had the identifier.
    func unregisterPeripherals(_ identifier: UUID) -> [EmulatedCBPeripheralManager] {
        unregister(from: \.peripherals) { $0.identifier == identifier }
    }

    @discardableResult
    private func unregister<Manager>(
        from list: WritableKeyPath<State, [Registered<Manager>]>, where isMeant: (Registered<Manager>) -> Bool
    ) -> [Manager] {
        let gone = state.withLock { $0[keyPath: list] }.filter(isMeant)
        let serials = Set(gone.map(\.serial))
        state.withLock { $0[keyPath: list].removeAll { serials.contains($0.serial) } }
        return gone.compactMap(\.manager)
    }

    private var registeredCentrals: [Registered<EmulatedCBCentralManager>] { state.withLock { $0.centrals } }

    private var registeredPeripherals: [Registered<EmulatedCBPeripheralManager>] { state.withLock { $0.peripherals } }

    /// The living central managers, in the order of their creation.
    var centrals: [EmulatedCBCentralManager] { registeredCentrals.compactMap(\.manager) }

    /// The living peripheral managers, in the order of their creation.
    var peripherals: [EmulatedCBPeripheralManager] { registeredPeripherals.compactMap(\.manager) }

    var centralIdentifiers: [UUID] { registeredCentrals.filter { $0.manager != nil }.map(\.identifier) }

    var peripheralIdentifiers: [UUID] { registeredPeripherals.filter { $0.manager != nil }.map(\.identifier) }

    /// Returns the living manager with an identifier; if several have it, the last one.
    func central(_ identifier: UUID) -> EmulatedCBCentralManager? {
        registeredCentrals.filter { $0.identifier == identifier }.compactMap(\.manager).last
    }

    /// Returns the living manager with an identifier; if several have it, the last one.
    func peripheral(_ identifier: UUID) -> EmulatedCBPeripheralManager? {
        registeredPeripherals.filter { $0.identifier == identifier }.compactMap(\.manager).last
    }

    // MARK: Hosts

    /// Returns the peripheral manager that a host knows under an identifier; nil for another device.
    func peripheral(knownAs peer: UUID, onHost host: String) -> EmulatedCBPeripheralManager? {
        peripherals.last { $0.place.host.identifier(onHost: host)?.uuid == peer }
    }

    /// Returns the central manager that a host knows under an identifier; nil for another central.
    func central(knownAs peer: UUID, onHost host: String) -> EmulatedCBCentralManager? {
        centrals.last { $0.place.host.identifier(onHost: host)?.uuid == peer }
    }

    /// Returns the device that a host knows under an identifier.
    func device(knownAs peer: UUID, onHost host: String) -> EmulatedDevice? {
        if let peripheral = peripheral(knownAs: peer, onHost: host) { return peripheral.place.host.peripheral }
        return emulator?.devices.first { $0.identifier(onHost: host)?.uuid == peer }
    }
}
