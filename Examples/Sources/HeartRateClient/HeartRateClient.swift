import CoreBluetooth

/// A client that finds a heart rate monitor, connects, and prints the rate until it is stopped.
///
/// Everything runs on the main queue, on which the manager delivers.
@MainActor
final class HeartRateClient: NSObject {
    private let service = CBUUID(string: "180D")
    private let measurement = CBUUID(string: "2A37")
    private let limit: Int
    private var count = 0
    private var central: CBCentralManager?
    private var monitor: CBPeripheral?

    /// - Parameter limit: The number of values after which the program ends.
    init(limit: Int) {
        self.limit = limit
        super.init()
        central = CBCentralManager(delegate: self, queue: nil)
    }

    private func show(_ rate: Int) {
        print("\(rate) bpm")
        count += 1
        guard count == limit, let monitor else { return }
        central?.cancelPeripheralConnection(monitor)
    }

    private func fail(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("\(reason)\n".utf8))
        exit(1)
    }
}

extension HeartRateClient: @preconcurrency CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        switch central.state {
        case .poweredOn: central.scanForPeripherals(withServices: [service])
        case .poweredOff: print("Bluetooth is off; waiting")
        case .unauthorized: fail("This program may not use Bluetooth.")
        case .unsupported: fail("There is no Bluetooth adapter.")
        default: break
        }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        // The manager does not retain peripherals, so the app does.
        monitor = peripheral
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        print("connected to \(peripheral.name ?? "a monitor without a name")")
        peripheral.delegate = self
        peripheral.discoverServices([service])
    }

    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        central.connect(peripheral)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        guard let error else { exit(0) }
        print("connection lost: \(error.localizedDescription)")
        central.connect(peripheral)
    }
}

extension HeartRateClient: @preconcurrency CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let found = peripheral.services?.first(where: { $0.uuid == service }) else {
            fail("The device has no Heart Rate service.")
        }
        peripheral.discoverCharacteristics([measurement], for: found)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        guard let found = service.characteristics?.first(where: { $0.uuid == measurement }) else {
            fail("The device measures nothing.")
        }
        peripheral.setNotifyValue(true, for: found)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if let error { fail("The device does not notify: \(error.localizedDescription)") }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        if let rate = characteristic.value.flatMap(beatsPerMinute) { show(rate) }
    }
}

/// Returns the rate of a Heart Rate Measurement; nil for a value that is too short.
///
/// Bit 0 of the flags selects one byte or two, least significant first. Source: GATT Specification Supplement, Heart
/// Rate Measurement.
func beatsPerMinute(_ value: Data) -> Int? {
    let bytes = [UInt8](value)
    guard let flags = bytes.first else { return nil }
    if flags & 1 == 0 { return bytes.count > 1 ? Int(bytes[1]) : nil }
    return bytes.count > 2 ? Int(bytes[1]) | Int(bytes[2]) << 8 : nil
}
