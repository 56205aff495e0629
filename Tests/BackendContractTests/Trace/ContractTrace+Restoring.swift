import CoreBluetooth

/// Restored state as lines; the objects are kept, as an app has to.
extension ContractTrace {
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        for peripheral in peripherals { peripheral.delegate = self }
        let states = peripherals.map { "\($0.name ?? "nil") \($0.state)" }
        let scan = (dict[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID])?.map(\.short) ?? []
        note(peripherals, [], "willRestore \(states) scanning \(scan)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        let advertisement = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
        let name = advertisement?[CBAdvertisementDataLocalNameKey] as? String
        note([], services, "willRestore \(services.map(\.uuid.short)) advertising \(name ?? "nil")")
    }
}
