import CoreBluetooth
import Foundation

/// An app that performs every operation of a device: it discovers, reads and subscribes to everything, and records the
/// values.
final class PlainApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: used only on `queue`, except for the recorded values, which are read when the queue is idle.
    private(set) var values: [Data] = []
    private(set) var errors: [any Error] = []
    private(set) var services = 0
    private(set) var characteristics = 0
    private(set) var changes = 0
    private(set) var disconnections: [(any Error)?] = []
    private let payload: Data?
    private var manager: CBCentralManager?
    private var device: CBPeripheral?
    private var channel: CBL2CAPChannel?

    /// - Parameter payload: The value that it writes to every writable characteristic; nil writes nothing.
    init(writing payload: Data? = nil, restoreIdentifier: String? = nil) {
        self.payload = payload
        super.init()
        let options = restoreIdentifier.map { [CBCentralManagerOptionRestoreIdentifierKey: $0] }
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "plain app"), options: options)
    }

    /// The identifier of the device that the app found.
    var identifier: UUID? { device?.identifier }

    /// Opens a channel to the device.
    func open(_ psm: CBL2CAPPSM) { device?.openL2CAPChannel(psm) }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        device = (dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral])?.first
        device?.delegate = self
    }

    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        self.channel = channel
    }

    /// Ends all operations.
    func stop() {
        channel = nil
        device = nil
        manager = nil
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard device == nil else { return }
        device = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(nil)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        disconnections.append(error)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        log(error)
        services = peripheral.services?.count ?? 0
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        log(error)
        for characteristic in service.characteristics ?? [] {
            characteristics += 1
            if characteristic.properties.contains(.read) { peripheral.readValue(for: characteristic) }
            if let payload, characteristic.properties.contains(.write) {
                peripheral.writeValue(payload, for: characteristic, type: .withResponse)
            }
            if characteristic.properties.contains(.notify) { peripheral.setNotifyValue(true, for: characteristic) }
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        log(error)
        if error == nil, let value = characteristic.value { values.append(value) }
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) { changes += 1 }

    private func log(_ error: (any Error)?) {
        if let error { errors.append(error) }
    }
}
