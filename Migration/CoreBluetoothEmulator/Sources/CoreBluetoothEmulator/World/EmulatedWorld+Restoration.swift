import BluetoothEmulator
import CoreBluetooth
import Foundation

/// The states that are preserved for the next manager with a restore identifier.
extension EmulatedWorld {
    /// Saves the links and the scan of a central manager; the links stay up until the next manager has them.
    func save(_ central: EmulatedCBCentralManager, for restoreIdentifier: String) {
        let scan = central.isScanning ? central.fields.withLock { $0.scan.parameters } : nil
        let preserved = PreservedCentral(central, scan: scan)
        preserved.holdLinks(on: central.place.host, in: self)
        state.withLock { $0.restoration.centrals[restoreIdentifier] = preserved }
    }

    /// Saves the services and the advertisement of a peripheral manager.
    func save(_ peripheral: EmulatedCBPeripheralManager, for restoreIdentifier: String) {
        let preserved = PreservedPeripheral(peripheral)
        state.withLock { $0.restoration.peripherals[restoreIdentifier] = preserved }
    }

    /// Takes the central state that is restored under an identifier, once.
    func takePreservedCentral(_ restoreIdentifier: String, in emulator: EmulatorBackend) -> PreservedCentral? {
        let preserved = state.withLock { state -> PreservedCentral? in
            guard let preserved = state.restoration.centrals.removeValue(forKey: restoreIdentifier) else { return nil }
            _ = state.restoration.takeDocument(restoreIdentifier)
            return preserved
        }
        return preserved ?? documentedCentral(restoreIdentifier, in: emulator)
    }

    /// Takes the peripheral state that is restored under an identifier, once.
    func takePreservedPeripheral(_ restoreIdentifier: String) -> PreservedPeripheral? {
        let preserved = state.withLock { state -> PreservedPeripheral? in
            guard let preserved = state.restoration.peripherals.removeValue(forKey: restoreIdentifier) else {
                return nil
            }
            _ = state.restoration.takeDocument(restoreIdentifier)
            return preserved
        }
        return preserved ?? documentedPeripheral(restoreIdentifier)
    }

    // MARK: Places

    /// Returns the place of a new central manager: that of the preserved one, so that its links exist.
    func place(for preserved: PreservedCentral?, _ restoreIdentifier: String?, in emulator: EmulatorBackend) -> Place {
        guard let preserved, let restoreIdentifier, let host = emulator.host(named: preserved.hostName) else {
            return makePlace("central", in: emulator)
        }
        host.setRestoredState(preserved.state, for: restoreIdentifier)
        return Place(identifier: preserved.identifier, host: host)
    }

    /// Returns the place of a new peripheral manager: that of the preserved one if it is gone; two living ones are two
    /// devices.
    func place(for preserved: PreservedPeripheral?, _ restoreIdentifier: String?, in emulator: EmulatorBackend) -> Place
    {
        guard let preserved, let restoreIdentifier else { return makePlace("peripheral", in: emulator) }
        let place: Place
        if peripheral(preserved.identifier) != nil {
            place = makePlace("peripheral", in: emulator)
        } else if let host = preserved.hostName.flatMap(emulator.host) {
            place = Place(identifier: preserved.identifier, host: host)
        } else {
            place = Place(identifier: preserved.identifier, host: makePlace("peripheral", in: emulator).host)
        }
        place.host.setRestoredState(preserved.state, for: restoreIdentifier)
        return place
    }
}
