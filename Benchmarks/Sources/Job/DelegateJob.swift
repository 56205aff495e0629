import CoreBluetooth
import Dispatch
import Synchronization

/// A job as an app with delegates does it: scan, connect to each device that is found, subscribe.
final class DelegateJob: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: variables are used only on `queue`, except for the manager, which is set before the queue is used.

    /// The event that the job waits for, and counts.
    enum Goal {
        case reports
        case connections
        case subscriptions
    }

    private let queue = DispatchQueue(label: "job")
    private let goal: Goal
    private let devices: Int
    private let isReady = DispatchSemaphore(value: 0)
    private let isOver = DispatchSemaphore(value: 0)
    private let values = Atomic(0)
    private var manager: CBCentralManager?
    private var peripherals: [UUID: CBPeripheral] = [:]
    private var reached = 0

    private init(_ goal: Goal, _ devices: Int, on backend: CBBackendSelection) {
        self.goal = goal
        self.devices = devices
        super.init()
        manager = CBCentralManager(backend: backend, delegate: self, queue: queue)
    }

    static func run(_ goal: Goal, _ devices: Int, _ seconds: UInt32, on backend: CBBackendSelection) throws {
        let start = ContinuousClock.now
        let job = DelegateJob(goal, devices, on: backend)
        job.isReady.wait()
        let result = try JobResult(ready: .now - start, seconds: seconds) { job.values.load(ordering: .relaxed) }
        try result.print()
        job.queue.async { job.end() }
        job.isOver.wait()
    }

    private func end() {
        guard let manager else { return }
        manager.stopScan()
        guard goal != .reports else { return ended() }
        for peripheral in peripherals.values { manager.cancelPeripheralConnection(peripheral) }
    }

    private func ended() {
        manager = nil
        isOver.signal()
    }

    /// Counts a device for which the job has what it waits for.
    private func reach() {
        reached += 1
        if reached == devices { isReady.signal() }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: goal == .reports ? nil : [CBUUID(string: "180D")])
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        values.add(1, ordering: .relaxed)
        guard peripherals.updateValue(peripheral, forKey: peripheral.identifier) == nil else { return }
        guard goal != .reports else { return reach() }
        peripheral.delegate = self
        central.connect(peripheral)
        if peripherals.count == devices { central.stopScan() }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([CBUUID(string: "180D")])
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        peripherals[peripheral.identifier] = nil
        if peripherals.isEmpty { ended() }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        // The daemon is quiet only once it has found all services.
        guard goal == .subscriptions else { return reach() }
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        if characteristic.isNotifying { reach() }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        values.add(1, ordering: .relaxed)
    }
}
