import BluetoothEmulator
import CoreBluetooth
import Dispatch
import Foundation

/// A peripheral manager, and a central manager that is connected to it.
final class ServedClient: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, CBPeripheralManagerDelegate,
    @unchecked Sendable
{
    // Invariant: everything below is used only on `queue`, except for the constants.
    private static let service = CBUUID(string: "180D")

    private let queue = DispatchQueue(label: "benchmark")
    private let done = DispatchSemaphore(value: 0)
    private let emulator = BluetoothEmulator.Emulator(configuration: .quiet)
    private let served = CBMutableCharacteristic(
        type: CBUUID(string: "2A37"), properties: [.read, .notify], value: nil, permissions: .readable)
    private var server: CBPeripheralManager?
    private var manager: CBCentralManager?
    private var peripheral: CBPeripheral?
    private var characteristic: CBCharacteristic?
    private var toStart = 0
    private var toFinish = 0
    private var next: () -> Void = {}

    override init() {
        super.init()
        CBManager.withBackend(.emulator(emulator)) {
            server = CBPeripheralManager(delegate: self, queue: queue)
            manager = CBCentralManager(delegate: self, queue: queue)
        }
        done.wait()
    }

    func read(count: Int) {
        run(count) { [self] in
            toStart -= 1
            if let characteristic { peripheral?.readValue(for: characteristic) }
        }
    }

    func notify(count: Int) {
        run(count) { [self] in
            while toStart > 0, server?.updateValue(LinkClient.value, for: served, onSubscribedCentrals: nil) == true {
                toStart -= 1
            }
        }
    }

    private func run(_ count: Int, _ body: @escaping () -> Void) {
        nonisolated(unsafe) let body = body
        queue.async { [self] in
            toFinish = count
            toStart = count
            next = body
            body()
        }
        done.wait()
    }

    // MARK: The peripheral

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = CBMutableService(type: Self.service, primary: true)
        service.characteristics = [served]
        peripheral.add(service)
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        request.value = LinkClient.value
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { next() }

    // MARK: The central

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [Self.service]) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard self.peripheral == nil else { return }
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
        characteristic = service.characteristics?.first
        if let characteristic { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        done.signal()
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        precondition(error == nil && characteristic.value?.count == 20)
        toFinish -= 1
        if toStart > 0 { next() }
        if toFinish <= 0 { done.signal() }
    }
}
