import BluetoothSupport
import CoreBluetooth

/// The state of a central: the adapter, the consumers of the scan, the peripherals.
///
/// It is the manager's delegate. All state is under one lock; calls are made and tasks are resumed outside it.
final class CentralCoordinator: NSObject, AdapterUser {
    struct WeakPeripheral {
        weak var peripheral: Peripheral?
    }

    enum ScanChange {
        case start(ScanFilter)
        case stop
    }

    struct State {
        var adapter = AdapterStatus()
        var peripherals: [UUID: WeakPeripheral] = [:]
        var scans: [Int: ScanConsumer] = [:]
        var managerScan: ScanFilter?
        var scanPump = Pump()
        /// Whether the scan must restart, so that it reports known devices again to a new consumer.
        var mustRestartScan = false
        var lastScan = 0
        /// Released after its call, or when it will not be called: it may retain peripherals, which retain this object.
        var onRestore: (@Sendable (RestoredState) -> Void)?

        /// Returns the next call for the manager's scan; nil if no change is left.
        mutating func nextScanChange() -> ScanChange? {
            guard adapter.state == .poweredOn else { return nil }
            let wanted = ScanFilter.merged(scans.values.map(\.filter))
            defer { (mustRestartScan, managerScan) = (false, wanted) }
            guard wanted != managerScan || mustRestartScan && wanted?.allowsDuplicates == false else { return nil }
            return wanted.map { .start($0) } ?? .stop
        }
    }

    /// The executor of this module's own tasks.
    let executor: any TaskExecutor
    let settings: Central.Settings
    let log: Log
    let state: Lock<State>
    let states: Broadcaster<CBManagerState>

    init(
        executor: any TaskExecutor, settings: Central.Settings, onRestore: (@Sendable (RestoredState) -> Void)?
    ) {
        self.executor = executor
        self.settings = settings
        log = Log(settings.logger)
        state = Lock(State(onRestore: onRestore))
        states = Broadcaster(settings.buffering, BluetoothError.Context(.connect), log, current: .unknown)
    }

    /// Returns the app's handler of restored state, for one call.
    func takeRestorationHandler() -> (@Sendable (RestoredState) -> Void)? { state.withLock { $0.onRestore.take() } }

    // MARK: The adapter

    var managerState: CBManagerState { state.withLock { $0.adapter.state } }

    func withAdapter<Result: Sendable>(_ body: (inout AdapterStatus) -> Result) -> Result {
        state.withLock { body(&$0.adapter) }
    }

    func changeState(to new: CBManagerState) {
        let (ready, failed, peripherals, sendState) = state.withLock { state in
            state.adapter.state = new
            if new != .poweredOn { state.managerScan = nil }
            defer {
                state.adapter.waiters = []
                if new.isTerminal { state.scans = [:] }
            }
            return (
                state.adapter.waiters, new.isTerminal ? Array(state.scans.values) : [],
                state.peripherals.values.compactMap(\.peripheral), states.replaceCurrent(with: new)
            )
        }
        log.debug(.state, "Bluetooth is \(new)")
        sendState()
        for consumer in failed { consumer.buffer.finish(BluetoothError(consumer.filter.context, .unavailable(new))) }
        if new != .poweredOn { for peripheral in peripherals { peripheral.core.lostPower(new) } }
        for waiter in ready { waiter.finish(.success(())) }
    }

    // MARK: Peripherals

    func peripheral(_ identifier: UUID) -> Peripheral? {
        state.withLock { $0.peripherals[identifier]?.peripheral }
    }

    /// Removes the object of a device, unless another one has replaced it.
    func forget(_ identifier: UUID) {
        // If this is the last reference to the other object, it is released outside the lock.
        let other = state.withLock { state -> Peripheral? in
            let other = state.peripherals[identifier]?.peripheral
            if other == nil { state.peripherals[identifier] = nil }
            return other
        }
        withExtendedLifetime(other) {}
    }
}

/// The manager's callbacks, on its queue.
extension CentralCoordinator: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        // State is restored before the first state update or never.
        _ = takeRestorationHandler()
        changeState(to: central.state)
        CentralHandle(core: self, manager: Unchecked(central)).applyScans()
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let handle = CentralHandle(core: self, manager: Unchecked(central))
        let objects = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        let hasScan = dict[CBCentralManagerRestoredStateScanOptionsKey] != nil
        let services = dict[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID]
        log.debug(.state, "restored \(objects.count) peripherals")
        takeRestorationHandler()?(
            RestoredState(
                peripherals: objects.map { handle.peripheral(for: $0) },
                scannedServices: services ?? (hasScan ? [] : nil)))
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let handle = CentralHandle(core: self, manager: Unchecked(central))
        let rssi = RSSI.intValue
        discovered(
            AdvertisedData(advertisementData), rssi: rssi == Self.unknownRSSI ? nil : rssi,
            of: handle.peripheral(for: peripheral))
    }

    private func discovered(_ data: AdvertisedData, rssi: Int?, of peripheral: Peripheral) {
        let deliveries = state.withLock { state -> [(number: Int, delivery: ScanConsumer.Delivery)] in
            state.scans.keys.sorted().compactMap { number in
                state.scans[number]?.accept(data, of: peripheral.identifier).map { (number, $0) }
            }
        }
        let found = DiscoveredPeripheral(peripheral: peripheral, advertisement: data, rssi: rssi)
        for (number, delivery) in deliveries where !delivery.deliver(found) {
            state.withLock { $0.scans[number]?.forget(peripheral.identifier) }
        }
    }

    /// Source: Apple, centralManager(_:didDiscover:advertisementData:rssi:).
    private static let unknownRSSI = 127

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        self.peripheral(peripheral.identifier)?.core.connected()
    }

    func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        self.peripheral(peripheral.identifier)?.core.connectFailed(error)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        self.peripheral(peripheral.identifier)?.core.disconnected(error)
    }
}
