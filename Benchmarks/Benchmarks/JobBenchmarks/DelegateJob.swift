import CoreBluetooth
import Dispatch
import Synchronization

/// The job as an app with delegates does it: scan, connect to each device that is found, subscribe.
final class DelegateJob: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: variables are used only on `queue`, except for the manager, which is set before the queue is used.
    private let queue = DispatchQueue(label: "job")
    private let devices: Int
    private let isSubscribed = DispatchSemaphore(value: 0)
    private let values = Atomic(0)
    private var manager: CBCentralManager?
    private var peripherals: [UUID: CBPeripheral] = [:]
    private var subscribed = 0

    private init(_ devices: Int, on backend: CBBackendSelection) {
        self.devices = devices
        super.init()
        manager = CBCentralManager(backend: backend, delegate: self, queue: queue)
    }

    static func run(devices: Int, seconds: UInt32, on backend: CBBackendSelection) -> JobResult {
        let start = ContinuousClock.now
        let job = DelegateJob(devices, on: backend)
        job.isSubscribed.wait()
        let result = JobResult(subscribed: .now - start, seconds: seconds) { job.values.load(ordering: .relaxed) }
        job.queue.sync { job.manager = nil }
        return result
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard peripherals.updateValue(peripheral, forKey: peripheral.identifier) == nil else { return }
        peripheral.delegate = self
        central.connect(peripheral)
        if peripherals.count == devices { central.stopScan() }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([CBUUID(string: "180D")])
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
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
        subscribed += 1
        if subscribed == devices { isSubscribed.signal() }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?)
    {
        values.add(1, ordering: .relaxed)
    }
}
