#if BlueZ
import BluetoothSupport
import CoreBluetooth
import ScriptedBlueZ
import Testing

/// An app that repeatedly connects to a peripheral, discovers, subscribes, reads and disconnects.
///
/// Each step begins in the callback of the previous one.
final class CyclingApp: NSObject, @unchecked Sendable {
    // Invariant: used on the queue of its manager; values that other threads read are under the lock.

    private let queue = DispatchQueue(label: "cycling app")
    private let progress = Lock((cycles: 0, problem: String?.none))
    private var manager: CBCentralManager?
    private var peripheral: CBPeripheral?
    private var goal = 0

    init(_ backend: CBBackendSelection) {
        super.init()
        queue.sync { manager = CBCentralManager(backend: backend, delegate: self, queue: queue) }
    }

    /// The number of completed cycles.
    var cycles: Int { progress.withLock { $0.cycles } }

    /// The first unexpected event.
    var problem: String? { progress.withLock { $0.problem } }

    /// Returns after `goal` cycles in total.
    func run(to goal: Int) async throws {
        queue.async {
            self.goal = goal
            if let peripheral = self.peripheral { self.manager?.connect(peripheral) }
        }
        try await RealWorldTime().advance(until: { self.cycles >= goal || self.problem != nil })
    }

    /// Releases the manager.
    func end() { queue.sync { (manager, peripheral) = (nil, nil) } }

    private func check(_ error: (any Error)?, _ step: String) {
        guard let error else { return }
        progress.withLock { $0.problem = $0.problem ?? "\(step), cycle \($0.cycles): \(error)" }
    }

    private func characteristic(_ name: ContractAttribute, _ service: CBService?) -> CBCharacteristic? {
        let found = service?.characteristics?.first { $0.uuid == CBUUID(name) }
        if found == nil { progress.withLock { $0.problem = $0.problem ?? "no characteristic \(name)" } }
        return found
    }
}

extension CyclingApp: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover found: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String
        guard peripheral == nil, name == ContractPeer.contract.advertisedName else { return }
        central.stopScan()
        found.delegate = self
        peripheral = found
        if goal > 0 { central.connect(found) }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([CBUUID(.main)])
    }

    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        check(error ?? CancellationError(), "connect")
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        check(error, "disconnect")
        let isOver = progress.withLock { progress in
            progress.cycles += 1
            return progress.cycles >= goal || progress.problem != nil
        }
        if !isOver { central.connect(peripheral) }
    }
}

extension CyclingApp: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        check(error, "discover services")
        guard let service = peripheral.services?.first else { return check(CancellationError(), "discover services") }
        peripheral.discoverCharacteristics(nil, for: service)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        check(error, "discover characteristics")
        characteristic(.notifying, service).map { peripheral.setNotifyValue(true, for: $0) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        check(error, "subscribe")
        self.characteristic(.readOnly, characteristic.service).map { peripheral.readValue(for: $0) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        check(error, "read")
        if characteristic.value != Data([0x0A]) { check(CancellationError(), "the value that was read") }
        manager?.cancelPeripheralConnection(peripheral)
    }
}
#endif
