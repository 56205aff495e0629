import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothEmulator
import Dispatch
import Foundation

/// The same two managers of CoreBluetoothEmulator.
final class EmulatedClient: NSObject, EmulatedCBCentralManagerDelegate, EmulatedCBPeripheralDelegate,
    EmulatedCBPeripheralManagerDelegate,
    @unchecked Sendable
{
    // Invariant: everything below is used only on `queue`, except for the constants.
    private static let service = CBUUID(string: "180D")

    private let queue = DispatchQueue(label: "benchmark")
    private let done = DispatchSemaphore(value: 0)
    private let emulator = BluetoothEmulator.Emulator(configuration: .quiet)
    private let served = EmulatedCBMutableCharacteristic(
        type: CBUUID(string: "2A37"), properties: [.read, .notify], value: nil, permissions: .readable)
    private var server: EmulatedCBPeripheralManager?
    private var manager: EmulatedCBCentralManager?
    private var peripheral: EmulatedCBPeripheral?
    private var characteristic: EmulatedCBCharacteristic?
    private var toStart = 0
    private var toFinish = 0
    private var next: () -> Void = {}

    override init() {
        super.init()
        CBManager.withBackend(.emulator(emulator)) {
            CoreBluetoothEmulator.Emulator.configure(.fast)
            server = EmulatedCBPeripheralManager(delegate: self, queue: queue)
            manager = EmulatedCBCentralManager(delegate: self, queue: queue)
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

    func peripheralManagerDidUpdateState(_ peripheral: EmulatedCBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        let service = EmulatedCBMutableService(type: Self.service, primary: true)
        service.characteristics = [served]
        peripheral.add(service)
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
    }

    func peripheralManager(_ peripheral: EmulatedCBPeripheralManager, didReceiveRead request: EmulatedCBATTRequest) {
        request.value = LinkClient.value
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: EmulatedCBPeripheralManager) { next() }

    // MARK: The central

    func centralManagerDidUpdateState(_ central: EmulatedCBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [Self.service]) }
    }

    func centralManager(
        _ central: EmulatedCBCentralManager, didDiscover peripheral: EmulatedCBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard self.peripheral == nil else { return }
        self.peripheral = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: EmulatedCBCentralManager, didConnect peripheral: EmulatedCBPeripheral) {
        peripheral.discoverServices(nil)
    }

    func peripheral(_ peripheral: EmulatedCBPeripheral, didDiscoverServices error: (any Error)?) {
        if let service = peripheral.services?.first { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didDiscoverCharacteristicsFor service: EmulatedCBService,
        error: (any Error)?
    ) {
        characteristic = service.characteristics?.first
        if let characteristic { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateNotificationStateFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) {
        done.signal()
    }

    func peripheral(
        _ peripheral: EmulatedCBPeripheral, didUpdateValueFor characteristic: EmulatedCBCharacteristic,
        error: (any Error)?
    ) {
        precondition(error == nil && characteristic.value?.count == 20)
        toFinish -= 1
        if toStart > 0 { next() }
        if toFinish <= 0 { done.signal() }
    }

    // Both delegates declare this method, so it must be implemented.
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: EmulatedCBPeripheral) {}
}

extension CoreBluetoothEmulator.EmulatorConfiguration {
    /// The settings without latency.
    fileprivate static let fast = CoreBluetoothEmulator.EmulatorConfiguration.instant
}
