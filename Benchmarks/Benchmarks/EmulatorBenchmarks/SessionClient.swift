import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth
import Dispatch
import Foundation

/// An app that repeats a whole session: scan, connect, discover five services, read ten values, subscribe, disconnect.
final class SessionClient: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: used on the manager's queue, and by the benchmark while time is paused.
    private let emulator = Emulator(configuration: .quiet, time: .virtual)
    private var manager: CBCentralManager?
    private var peripheral: CBPeripheral?
    private var left = 0
    private var undiscovered = 0
    private var unread = 0
    private(set) var done = 0

    override init() {
        super.init()
        manager = CBCentralManager(
            backend: .emulator(emulator), delegate: self, queue: DispatchQueue(label: "benchmark"))
    }

    /// Creates a device with five services, each with two characteristics.
    static func make() throws -> SessionClient {
        let client = SessionClient()
        let value = Data(repeating: 1, count: 20)
        let services = (UInt16(0)..<5).map { number -> ServiceDescription in
            let characteristics = [2 * number, 2 * number + 1].map { position -> CharacteristicDescription in
                CharacteristicDescription(BluetoothUUID(0xC100 + position), [.read, .notify], value: value)
            }
            return ServiceDescription(BluetoothUUID(0xC000 + number), characteristics: characteristics)
        }
        try client.emulator.add(
            PeripheralDescription(
                name: "Device", advertising: [AdvertisingDescription(AdvertisingData(services: ["C000"]))],
                services: services))
        return client
    }

    /// Powers the manager on.
    func prepare() async throws { try await emulator.advance(by: .seconds(1)) }

    /// Performs a number of rounds.
    func run(rounds: Int) async throws {
        done = 0
        left = rounds
        scan()
        try await emulator.advance(by: .milliseconds(500 * rounds))
        precondition(done == rounds, "\(done) of \(rounds) rounds")
    }

    private func scan() {
        guard left > 0 else { return }
        left -= 1
        manager?.scanForPeripherals(withServices: [CBUUID(string: "C000")])
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {}

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
        undiscovered = peripheral.services?.count ?? 0
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        undiscovered -= 1
        guard undiscovered == 0 else { return }
        let characteristics = peripheral.services?.flatMap { $0.characteristics ?? [] } ?? []
        unread = characteristics.count
        for characteristic in characteristics { peripheral.readValue(for: characteristic) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        unread -= 1
        if unread == 0 { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        manager?.cancelPeripheralConnection(peripheral)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        done += 1
        scan()
    }
}
