import BluetoothBackend
import Foundation

/// State restoration, on the manager's queue.
extension CentralCore {
    /// Makes the objects of what an earlier process left, and keeps them alive until the delegate had its chance.
    func restore(_ restored: RestoredCentralState) {
        let peripherals = restored.peers.map { peripheral($0.summary) }
        transition { $0.handle(.restored(restored)) }
        withExtendedLifetime(peripherals) {}
    }

    /// S141, S142.
    func willRestore(_ restored: RestoredCentralState, by manager: CBCentralManager) {
        var dictionary: [String: Any] = [:]
        let peripherals = restored.peers.compactMap { peer in
            let peripheral = peripheral(peer.summary.id)
            if let link = peer.link { peripheral?.restore(peer.services, on: link) }
            return peripheral
        }
        if !peripherals.isEmpty { dictionary[CBCentralManagerRestoredStatePeripheralsKey] = peripherals }
        if let scan = restored.scan {
            dictionary[CBCentralManagerRestoredStateScanServicesKey] = scan.services.map { $0.map(CBUUID.init) }
            dictionary[CBCentralManagerRestoredStateScanOptionsKey] = scan.options
        }
        delegate?.centralManager(manager, willRestoreState: dictionary)
    }
}

extension ScanParameters {
    /// As an app gives them.
    fileprivate var options: [String: Any] {
        var options: [String: Any] = [
            CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: allowDuplicates)
        ]
        if !solicitedServices.isEmpty {
            options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = solicitedServices.map(CBUUID.init)
        }
        return options
    }
}
