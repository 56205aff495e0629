import BluetoothEmulator
import CoreBluetooth
import Foundation

/// State restoration: what is saved for the next manager of a restore identifier.
extension EmulatedWorld {
    /// Saves the links and the scan of a central manager; the links stay up until the next manager has them.
    func save(_ central: EmulatedCBCentralManager, for restoreIdentifier: String) {
        let scan = central.isScanning ? central.fields.withLock { $0.scan.parameters } : nil
        let saved = SavedCentral(central, scan: scan)
        saved.holdLinks(on: central.place.host, in: self)
        state.withLock { $0.restoration.centrals[restoreIdentifier] = saved }
    }

    /// Saves the services and the advertisement of a peripheral manager.
    func save(_ peripheral: EmulatedCBPeripheralManager, for restoreIdentifier: String) {
        let saved = SavedPeripheral(peripheral)
        state.withLock { $0.restoration.peripherals[restoreIdentifier] = saved }
    }

    /// What is restored under an identifier, once.
    func takeSavedCentral(_ restoreIdentifier: String, in emulator: Radio) -> SavedCentral? {
        let saved = state.withLock { state -> SavedCentral? in
            guard let saved = state.restoration.centrals.removeValue(forKey: restoreIdentifier) else { return nil }
            state.restoration.documents[restoreIdentifier] = nil
            return saved
        }
        return saved ?? documentedCentral(restoreIdentifier, in: emulator)
    }

    /// What is restored under an identifier, once.
    func takeSavedPeripheral(_ restoreIdentifier: String) -> SavedPeripheral? {
        let saved = state.withLock { state -> SavedPeripheral? in
            guard let saved = state.restoration.peripherals.removeValue(forKey: restoreIdentifier) else { return nil }
            state.restoration.documents[restoreIdentifier] = nil
            return saved
        }
        return saved ?? documentedPeripheral(restoreIdentifier)
    }

    // MARK: Places

    /// The place of a new central manager: that of the saved one, so that its links are there.
    func place(for saved: SavedCentral?, _ restoreIdentifier: String?, in emulator: Radio) -> Place {
        guard let saved, let restoreIdentifier, let host = emulator.host(named: saved.hostName) else {
            return makePlace("central", in: emulator)
        }
        host.setRestoredState(saved.state, for: restoreIdentifier)
        return Place(identifier: saved.identifier, host: host)
    }

    /// The place of a new peripheral manager: that of the saved one if that is gone; two that live are two devices.
    func place(for saved: SavedPeripheral?, _ restoreIdentifier: String?, in emulator: Radio) -> Place {
        guard let saved, let restoreIdentifier else { return makePlace("peripheral", in: emulator) }
        let place: Place
        if peripheral(saved.identifier) != nil {
            place = makePlace("peripheral", in: emulator)
        } else if let host = saved.hostName.flatMap(emulator.host) {
            place = Place(identifier: saved.identifier, host: host)
        } else {
            place = Place(identifier: saved.identifier, host: makePlace("peripheral", in: emulator).host)
        }
        place.host.setRestoredState(saved.state, for: restoreIdentifier)
        return place
    }
}
