import CoreBluetooth
import Foundation

/// A client that reads the level of the first battery that it finds.
final class BatteryReader: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: used only on `queue`.
    private let queue = DispatchQueue(label: "battery reader")
    private var manager: CBCentralManager?
    private var device: CBPeripheral?
    private var result: UInt8??
    private var waiting: CheckedContinuation<UInt8?, Never>?

    /// Creates a reader, which begins at once.
    override init() {
        super.init()
        queue.sync { manager = CBCentralManager(delegate: self, queue: queue) }
    }

    /// Returns the level in percent; nil if it could not be read.
    func level() async -> UInt8? {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                if let result { continuation.resume(returning: result) } else { waiting = continuation }
            }
        }
    }

    private func finish(_ level: UInt8?) {
        result = .some(level)
        waiting?.resume(returning: level)
        waiting = nil
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        switch central.state {
        case .poweredOn: central.scanForPeripherals(withServices: [CBUUID(string: "180F")])
        case .unknown, .resetting: break
        default: finish(nil)
        }
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
        peripheral.discoverServices([CBUUID(string: "180F")])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let service = peripheral.services?.first else { return finish(nil) }
        peripheral.discoverCharacteristics([CBUUID(string: "2A19")], for: service)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        guard let characteristic = service.characteristics?.first else { return finish(nil) }
        peripheral.readValue(for: characteristic)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        finish(characteristic.value?.first)
    }
}
