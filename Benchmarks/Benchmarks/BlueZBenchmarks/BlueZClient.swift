import BlueZ
import CBusClient
import CoreBluetooth
import Dispatch
import Foundation

/// An app with one connected peripheral, over a scripted BlueZ.
final class BlueZClient: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: variables are used only on `queue`, except for the manager, which is set before the queue is used.
    private let queue = DispatchQueue(label: "benchmark")
    private let done = DispatchSemaphore(value: 0)
    private var manager: CBCentralManager?
    private var peripheral: CBPeripheral?
    private var characteristic: CBCharacteristic?
    private var toDo = 0
    private var bytes = 0
    private let value = Data(repeating: 7, count: 20)
    private var isWriting = false

    /// Returns once the adapter is on, and therefore once all objects are mirrored.
    init(_ address: String, _ notificationMethod: BlueZConfiguration.NotificationMethod) {
        super.init()
        manager = CBCentralManager(
            backend: .bluez(BlueZConfiguration(busAddress: address, notificationMethod: notificationMethod)),
            delegate: self, queue: queue)
        done.wait()
    }

    /// Connects, and finds the characteristic.
    func connect() {
        queue.async { [self] in
            peripheral = manager?.retrieveConnectedPeripherals(withServices: [CBUUID(string: "180D")]).first
            guard let peripheral else { preconditionFailure("no peripheral") }
            peripheral.delegate = self
            manager?.connect(peripheral)
        }
        done.wait()
    }

    // MARK: Work

    func read(_ count: Int) {
        queue.async { [self] in
            toDo = count
            if let characteristic { peripheral?.readValue(for: characteristic) }
        }
        done.wait()
    }

    /// Receives a number of notifications, which `emit` causes.
    func listen(_ count: Int, emit: () -> Void) {
        setNotifying(true)
        queue.sync { toDo = count }
        emit()
        done.wait()
        setNotifying(false)
    }

    private func setNotifying(_ isNotifying: Bool) {
        queue.async { [self] in
            if let characteristic { peripheral?.setNotifyValue(isNotifying, for: characteristic) }
        }
        done.wait()
    }

    /// Receives a number of advertisement reports, which `emit` causes.
    func scan(_ count: Int, emit: () -> Void) {
        queue.sync {
            toDo = count
            manager?.scanForPeripherals(
                withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        }
        emit()
        done.wait()
        queue.sync { manager?.stopScan() }
    }

    /// Writes a number of packets as fast as the peripheral accepts them.
    func write(_ count: Int) {
        queue.async { [self] in
            toDo = count
            isWriting = true
            writeOn()
        }
        done.wait()
    }

    private func writeOn() {
        guard isWriting, let peripheral, let characteristic else { return }
        while toDo > 0, peripheral.canSendWriteWithoutResponse {
            peripheral.writeValue(value, for: characteristic, type: .withoutResponse)
            toDo -= 1
        }
        guard toDo == 0 else { return }
        isWriting = false
        done.signal()
    }

    private func finishOne() {
        toDo -= 1
        if toDo == 0 { done.signal() }
    }

    // MARK: Callbacks

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { done.signal() }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if toDo > 0 { finishOne() }
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
        done.signal()
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        guard error == nil, toDo > 0 else { preconditionFailure("\(String(describing: error))") }
        bytes += characteristic.value?.count ?? 0
        if !characteristic.isNotifying, toDo > 1 { peripheral.readValue(for: characteristic) }
        finishOne()
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        done.signal()
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { writeOn() }
}
