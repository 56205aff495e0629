import CoreBluetooth
import Foundation

/// The events of a central manager, on its queue.
extension EmulatedCBCentralManager {
    func didUpdateState() {
        let isOn = core?.state == .poweredOn
        if !isOn { for peripheral in peripherals { peripheral.linkEnded(nil) } }
        if fields.withLock({ $0.takeEmptyState() }) { delegate?.centralManager(self, willRestoreState: [:]) }
        if isOn {
            for peripheral in fields.withLock({ $0.takeRestored() }) { peripheral.subscribeAgain() }
        }
        start.end()
        delegate?.centralManagerDidUpdateState(self)
    }

    func willRestore(_ dictionary: [String: Any]) {
        var dictionary = dictionary
        if let restored = dictionary[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] {
            let peripherals = restored.map(peripheral)
            for peripheral in peripherals {
                peripheral.setSubscriptions(preserved?.subscriptions(of: peripheral.core) ?? [])
            }
            fields.withLock { $0.restored = peripherals }
            dictionary[CBCentralManagerRestoredStatePeripheralsKey] = peripherals
        }
        preserved?.releaseLinks(on: place.host, in: world)
        delegate?.centralManager(self, willRestoreState: dictionary)
    }

    func didDiscover(_ core: CBPeripheral, _ data: [String: Any], _ rssi: NSNumber) {
        let peripheral = peripheral(for: core)
        guard let advertised = peripheral.server?.advertisement else {
            return deliver(peripheral, data, rssi)
        }
        let isNew = fields.withLock { fields in
            let old = fields.scan.reportedAdvertisements.updateValue(advertised.number, forKey: core.identifier)
            return fields.scan.parameters.allowDuplicates || old != advertised.number
        }
        guard isNew else { return }
        deliver(peripheral, advertised.report(of: data), peripheral.clamped(rssi))
    }

    private func deliver(_ peripheral: EmulatedCBPeripheral, _ data: [String: Any], _ rssi: NSNumber) {
        delegate?.centralManager(self, didDiscover: peripheral, advertisementData: data, rssi: rssi)
    }

    func didConnect(_ core: CBPeripheral) {
        let peripheral = peripheral(for: core)
        peripheral.linkBegan()
        delegate?.centralManager(self, didConnect: peripheral)
        reportConnectionEvent(.peerConnected, peripheral)
    }

    func didFailToConnect(_ core: CBPeripheral, _ error: (any Error)?) {
        let peripheral = peripheral(for: core)
        peripheral.linkEnded(error)
        delegate?.centralManager(self, didFailToConnect: peripheral, error: error)
    }

    func didDisconnect(_ core: CBPeripheral, _ error: (any Error)?) {
        let peripheral = peripheral(for: core)
        peripheral.linkEnded(error)
        delegate?.centralManager(self, didDisconnectPeripheral: peripheral, error: error)
        reportConnectionEvent(.peerDisconnected, peripheral)
    }

    /// Reports an event of a link of this manager; if Apple's rule applies, the emulator reports all links instead.
    private func reportConnectionEvent(_ event: CBConnectionEvent, _ peripheral: EmulatedCBPeripheral) {
        let configuration = world.configuration
        guard configuration.fireConnectionEvents, !configuration.followsApple,
            fields.withLock({ $0.connectionEvents })?.matches(peripheral) == true
        else { return }
        delegate?.centralManager(self, connectionEventDidOccur: event, for: peripheral)
    }

    func didOccur(_ event: CBConnectionEvent, _ core: CBPeripheral) {
        let configuration = world.configuration
        guard configuration.fireConnectionEvents, configuration.followsApple else { return }
        delegate?.centralManager(self, connectionEventDidOccur: event, for: peripheral(for: core))
    }

    func didUpdateANCSAuthorization(_ core: CBPeripheral) {
        guard world.configuration.fireANCSAuthorizationUpdates else { return }
        delegate?.centralManager(self, didUpdateANCSAuthorizationFor: peripheral(for: core))
    }
}

extension EmulatedCBCentralManager.Fields {
    /// - Returns: Whether `willRestoreState` must be called now, with nothing.
    fileprivate mutating func takeEmptyState() -> Bool {
        defer { mustReportEmptyState = false }
        return mustReportEmptyState
    }

    /// - Returns: The restored peripherals whose subscriptions are still to be made.
    fileprivate mutating func takeRestored() -> [EmulatedCBPeripheral] {
        defer { restored = [] }
        return restored
    }
}
