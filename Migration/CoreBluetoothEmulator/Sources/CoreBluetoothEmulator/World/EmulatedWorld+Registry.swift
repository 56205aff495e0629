import BluetoothBackend
import BluetoothEmulator
import Foundation

/// The managers of a world, by identifier.
extension EmulatedWorld {
    func register(_ central: EmulatedCBCentralManager, as identifier: UUID) {
        state.withLock { state in
            state.centrals.removeAll { $0.manager == nil || $0.manager === central }
            state.centrals.append(Registered(identifier: identifier, manager: central))
        }
    }

    func register(_ peripheral: EmulatedCBPeripheralManager, as identifier: UUID) {
        state.withLock { state in
            state.peripherals.removeAll { $0.manager == nil || $0.manager === peripheral }
            state.peripherals.append(Registered(identifier: identifier, manager: peripheral))
        }
    }

    /// - Returns: The managers that had the identifier.
    func unregisterCentrals(_ identifier: UUID) -> [EmulatedCBCentralManager] {
        state.withLock { state in
            let gone = state.centrals.filter { $0.identifier == identifier }.compactMap(\.manager)
            state.centrals.removeAll { $0.identifier == identifier || $0.manager == nil }
            return gone
        }
    }

    /// - Returns: The managers that had the identifier.
    func unregisterPeripherals(_ identifier: UUID) -> [EmulatedCBPeripheralManager] {
        state.withLock { state in
            let gone = state.peripherals.filter { $0.identifier == identifier }.compactMap(\.manager)
            state.peripherals.removeAll { $0.identifier == identifier || $0.manager == nil }
            return gone
        }
    }

    /// The living central managers, in the order of their making.
    var centrals: [EmulatedCBCentralManager] { state.withLock { $0.centrals.compactMap(\.manager) } }

    /// The living peripheral managers, in the order of their making.
    var peripherals: [EmulatedCBPeripheralManager] { state.withLock { $0.peripherals.compactMap(\.manager) } }

    var centralIdentifiers: [UUID] { state.withLock { $0.centrals.filter { $0.manager != nil }.map(\.identifier) } }

    var peripheralIdentifiers: [UUID] {
        state.withLock { $0.peripherals.filter { $0.manager != nil }.map(\.identifier) }
    }

    /// The living manager of an identifier; of several, the last.
    func central(_ identifier: UUID) -> EmulatedCBCentralManager? {
        state.withLock { $0.centrals.last { $0.identifier == identifier && $0.manager != nil }?.manager }
    }

    /// The living manager of an identifier; of several, the last.
    func peripheral(_ identifier: UUID) -> EmulatedCBPeripheralManager? {
        state.withLock { $0.peripherals.last { $0.identifier == identifier && $0.manager != nil }?.manager }
    }

    // MARK: Hosts

    /// The peripheral manager that a host knows under an identifier; nil for a device that is none.
    func peripheral(knownAs peer: UUID, onHost host: String) -> EmulatedCBPeripheralManager? {
        peripherals.last { $0.place.host.identifier(onHost: host)?.uuid == peer }
    }

    /// The central manager that a host knows under an identifier; nil for a central that is none.
    func central(knownAs peer: UUID, onHost host: String) -> EmulatedCBCentralManager? {
        centrals.last { $0.place.host.identifier(onHost: host)?.uuid == peer }
    }

    /// The device that a host knows under an identifier.
    func device(knownAs peer: UUID, onHost host: String) -> EmulatedDevice? {
        if let peripheral = peripheral(knownAs: peer, onHost: host) { return peripheral.place.host.peripheral }
        return emulator?.devices.first { $0.identifier(onHost: host)?.uuid == peer }
    }
}
