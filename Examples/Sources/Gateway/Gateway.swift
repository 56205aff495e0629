import CoreBluetooth

/// A gateway that prints a JSON line for each advertisement and, if a characteristic is given, for each of its values.
///
/// Everything runs on the main queue, on which the manager delivers.
@MainActor
final class Gateway: NSObject {
    private let source: Source?
    private var central: CBCentralManager?
    /// The peripherals that are connected or connecting; the manager does not retain them.
    private var peripherals: [UUID: CBPeripheral] = [:]

    /// - Parameter source: The characteristic whose values are printed; nil prints only advertisements.
    init(source: Source?) {
        self.source = source
        super.init()
        central = CBCentralManager(delegate: self, queue: nil)
    }

    private func discovered(_ peripheral: CBPeripheral) {
        guard source != nil, peripherals[peripheral.identifier] == nil else { return }
        peripherals[peripheral.identifier] = peripheral
        central?.connect(peripheral)
    }
}

extension Gateway: @preconcurrency CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        peripherals = [:]
        Line(type: "state", state: "\(central.state)", backend: backendName(of: central)).write()
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(
            withServices: source.map { [$0.service] }, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        Line(type: "advertisement", of: peripheral, advertisementData, rssi: RSSI.intValue).write()
        discovered(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        Line(type: "connected", of: peripheral).write()
        peripheral.delegate = self
        peripheral.discoverServices(source.map { [$0.service] })
    }

    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        Line(type: "failed", of: peripheral, error: error).write()
        peripherals[peripheral.identifier] = nil
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        Line(type: "disconnected", of: peripheral, error: error).write()
        // The next advertisement restores the connection.
        peripherals[peripheral.identifier] = nil
    }
}

extension Gateway: @preconcurrency CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] {
            peripheral.discoverCharacteristics(source.map { [$0.characteristic] }, for: service)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        for characteristic in service.characteristics ?? [] {
            if !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
                peripheral.setNotifyValue(true, for: characteristic)
            } else if characteristic.properties.contains(.read) {
                peripheral.readValue(for: characteristic)
            }
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        Line(type: "value", of: peripheral, characteristic, error: error).write()
    }
}

/// Returns the name of the manager's backend, which Apple's managers do not offer.
@MainActor
private func backendName(of central: CBCentralManager) -> String? {
    #if canImport(Darwin)
    nil
    #else
    central.backendName
    #endif
}
