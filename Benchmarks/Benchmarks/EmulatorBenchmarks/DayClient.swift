import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth
import Dispatch
import Foundation

/// An app that listens to a device that notifies once a second, in virtual time.
final class DayClient: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: used on the manager's queue, and by the benchmark while time is paused.
    let emulator = Emulator(configuration: .quiet, time: .virtual)
    private var manager: CBCentralManager?
    private var peripheral: CBPeripheral?
    private(set) var values = 0

    override init() {
        super.init()
        manager = CBCentralManager(
            backend: .emulator(emulator), delegate: self, queue: DispatchQueue(label: "benchmark"))
    }

    /// Adds the device, connects and subscribes.
    static func make() async throws -> DayClient {
        let client = DayClient()
        let rate = CharacteristicDescription(
            "2A37", .notify, timer: .init(every: .seconds(1), values: [Data([0, 60]), Data([0, 61])]))
        try client.emulator.add(
            PeripheralDescription(
                name: "Device", advertising: [AdvertisingDescription(AdvertisingData(services: ["180D"]))],
                services: [ServiceDescription("180D", characteristics: [rate])]))
        try await client.emulator.advance(by: .seconds(10))
        precondition(client.values > 0)
        return client
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        self.peripheral = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if let service = peripheral.services?.first { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        if let rate = service.characteristics?.first { peripheral.setNotifyValue(true, for: rate) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        values += 1
    }
}
