import CoreBluetooth
import Foundation

/// App code as it is written for real devices: it names no backend.
final class HeartRateApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: used only on `queue`, except for `beats`, which is read when the queue is idle.
    private(set) var beats: [UInt8] = []
    private var manager: CBCentralManager?
    private var monitor: CBPeripheral?

    init(queue: DispatchQueue? = DispatchQueue(label: "heart rate app")) {
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    /// Ends all operations.
    func stop() {
        monitor = nil
        manager = nil
    }

    /// Releases the peripheral, and retains the manager.
    func forgetMonitor() { monitor = nil }

    /// Scans for the monitor again.
    func scanAgain() { manager.map(centralManagerDidUpdateState) }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard monitor == nil else { return }
        monitor = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([CBUUID(string: "180D")])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        for characteristic in service.characteristics ?? [] where characteristic.properties.contains(.notify) {
            peripheral.setNotifyValue(true, for: characteristic)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        if let value = characteristic.value, value.count > 1 { beats.append(value[value.startIndex + 1]) }
    }
}
