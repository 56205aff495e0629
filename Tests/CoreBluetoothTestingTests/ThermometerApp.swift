import CoreBluetooth
import Foundation

/// An app that shows the temperature of a thermometer, and reconnects when the link is lost.
final class ThermometerApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: used only on the manager's queue; a test reads it when that queue is idle.
    private(set) var temperatures: [Double] = []
    private(set) var serialNumber: String?
    private(set) var problem: (any Error)?
    private var manager: CBCentralManager?
    private var thermometer: CBPeripheral?

    override init() {
        super.init()
        manager = CBCentralManager(delegate: self, queue: DispatchQueue(label: "thermometer"))
    }

    func stop() {
        thermometer = nil
        manager = nil
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: [CBUUID(string: "1809")])
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        thermometer = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(nil)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        central.connect(peripheral)
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        peripheral.discoverServices(nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        for characteristic in service.characteristics ?? [] {
            switch characteristic.uuid.uuidString {
            case "2A1C": peripheral.setNotifyValue(true, for: characteristic)
            case "2A25": peripheral.readValue(for: characteristic)
            default: break
            }
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        if let error { return problem = error }
        guard let value = characteristic.value else { return }
        switch characteristic.uuid.uuidString {
        case "2A1C": if let temperature = Self.temperature(value) { temperatures.append(temperature) }
        case "2A25": serialNumber = String(decoding: value, as: UTF8.self)
        default: break
        }
    }

    /// Decodes the IEEE-11073 FLOAT after the flags.
    private static func temperature(_ value: Data) -> Double? {
        guard value.count >= 5 else { return nil }
        let bytes = [UInt8](value)
        let mantissa = Int32(bytes[1]) | Int32(bytes[2]) << 8 | Int32(Int8(bitPattern: bytes[3])) << 16
        return Double(mantissa) * pow(10, Double(Int8(bitPattern: bytes[4])))
    }
}
