import BluetoothLocking
import CoreBluetooth

/// The manager's callbacks, on its queue.
extension CentralCore: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        // Restoration comes before the first state or never.
        _ = takeRestorationHandler()
        changeState(to: central.state)
        CentralRadio(core: self, manager: Unchecked(central)).applyScans()
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let radio = CentralRadio(core: self, manager: Unchecked(central))
        let objects = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        let hasScan = dict[CBCentralManagerRestoredStateScanOptionsKey] != nil
        let services = dict[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID]
        log.debug(.state, "restored \(objects.count) peripherals")
        takeRestorationHandler()?(
            RestoredState(
                peripherals: objects.map { radio.peripheral(for: $0) },
                scannedServices: services ?? (hasScan ? [] : nil)))
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let radio = CentralRadio(core: self, manager: Unchecked(central))
        let rssi = RSSI.intValue
        discovered(
            AdvertisedData(advertisementData), rssi: rssi == Self.unknownRSSI ? nil : rssi,
            of: radio.peripheral(for: peripheral))
    }

    /// Source: Apple, centralManager(_:didDiscover:advertisementData:rssi:).
    private static let unknownRSSI = 127

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        self.peripheral(peripheral.identifier)?.core.connected()
    }

    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        self.peripheral(peripheral.identifier)?.core.connectFailed(error)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        self.peripheral(peripheral.identifier)?.core.disconnected(error)
    }
}
