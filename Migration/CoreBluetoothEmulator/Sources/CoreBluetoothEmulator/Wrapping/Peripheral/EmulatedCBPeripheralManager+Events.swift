import CoreBluetooth
import Foundation

/// The events of a peripheral manager, on its queue.
extension EmulatedCBPeripheralManager {
    func didUpdateState() {
        let present = core?.state ?? .unknown
        if [.unknown, .resetting, .unsupported, .unauthorized].contains(present) {
            fields.withLock { $0.published.removeAll() }
        }
        if present != .poweredOn { failChannelCommands() }
        if fields.withLock({ $0.takeEmptyState() }) { delegate?.peripheralManager(self, willRestoreState: [:]) }
        start.end()
        delegate?.peripheralManagerDidUpdateState(self)
    }

    func willRestore(_ dictionary: [String: Any]) {
        var restored: [String: Any] = [:]
        let cores = dictionary[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        let services = preserved?.services ?? []
        fields.withLock { fields in
            for (service, core) in zip(services, cores) {
                fields.published.append(service, core, of: self, isConfirmed: true)
            }
        }
        if !services.isEmpty { restored[CBPeripheralManagerRestoredStateServicesKey] = services }
        if let advertisement = preserved?.advertisement {
            setAdvertisement(advertisement)
            restored[CBPeripheralManagerRestoredStateAdvertisementDataKey] = advertisement.data
        }
        delegate?.peripheralManager(self, willRestoreState: restored)
    }

    func didAdd(_ core: CBService, _ error: (any Error)?) {
        guard let service = fields.withLock({ $0.published.service(of: core) }) else { return }
        fields.withLock { $0.published.added(core, isPublished: error == nil) }
        delegate?.peripheralManager(self, didAdd: service, error: error)
    }

    func didChangeSubscription(of central: CBCentral, to core: CBCharacteristic, isOn: Bool) {
        guard let characteristic = fields.withLock({ $0.published.characteristic(of: core) }) else { return }
        let central = self.central(for: central)
        if isOn {
            delegate?.peripheralManager(self, central: central, didSubscribeTo: characteristic)
        } else {
            delegate?.peripheralManager(self, central: central, didUnsubscribeFrom: characteristic)
        }
    }
}

extension EmulatedCBPeripheralManager.Fields {
    /// - Returns: Whether `willRestoreState` must be called now, with nothing.
    fileprivate mutating func takeEmptyState() -> Bool {
        defer { mustReportEmptyState = false }
        return mustReportEmptyState
    }
}
