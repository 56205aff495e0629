import BluetoothLocking
import CoreBluetooth
import Synchronization

/// What a central knows: the adapter's state, the consumers of its scan, its peripherals.
///
/// It is the manager's delegate. Everything is under one lock; nothing is called and no task goes on while it is held.
final class CentralCoordinator: NSObject, Sendable {
    struct WeakPeripheral {
        weak var peripheral: Peripheral?
    }

    struct State {
        var managerState = CBManagerState.unknown
        var ready: [Waiter<Void>] = []
        var stateBuffers: [Int: ElementBuffer<CBManagerState>] = [:]
        var peripherals: [UUID: WeakPeripheral] = [:]
        var scans: [Int: ScanConsumer] = [:]
        /// What the manager scans for at present.
        var radioScan: ScanFilter?
        var isApplyingScans = false
        /// A consumer came for which the scan has to report known devices again.
        var mustRestartScan = false
        var lastNumber = 0
        /// Let go once it was called or will not be: it may hold the peripherals, and they hold this.
        var onRestore: (@Sendable (RestoredState) -> Void)?

        mutating func newNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    /// Where tasks of this module run.
    let executor: any TaskExecutor
    let settings: Central.Settings
    let log: Log
    let state: Lock<State>

    init(
        executor: any TaskExecutor, settings: Central.Settings, onRestore: (@Sendable (RestoredState) -> Void)?
    ) {
        self.executor = executor
        self.settings = settings
        log = Log(settings.logger)
        state = Lock(State(onRestore: onRestore))
    }

    /// What the app wants to do with restored state, once.
    func takeRestorationHandler() -> (@Sendable (RestoredState) -> Void)? {
        state.withLock { state in
            defer { state.onRestore = nil }
            return state.onRestore
        }
    }

    // MARK: The adapter

    var managerState: CBManagerState { state.withLock { $0.managerState } }

    /// Waits for `poweredOn`.
    ///
    /// - Parameter patiently: Whether to wait in states too that do not pass by themselves.
    /// - Throws: `OperationFailure`, `CancellationError`.
    func ready(patiently: Bool = false) async throws {
        try Task.checkCancellation()
        while true {
            let waiter = Waiter<Void>()
            let now = state.withLock { state -> CBManagerState in
                let mustWait = state.managerState != .poweredOn && (patiently || !state.managerState.isTerminal)
                if mustWait { state.ready.append(waiter) }
                return state.managerState
            }
            if now == .poweredOn { return }
            if now.isTerminal, !patiently { throw OperationFailure(.unavailable(now)) }
            try await waiter.value { state.withLock { $0.ready.removeAll { $0 === waiter } } }
        }
    }

    func addStateBuffer() -> (ElementBuffer<CBManagerState>, Int) {
        state.withLock { state in
            let number = state.newNumber()
            // Made under the lock, so that no change comes before the present state.
            let buffer = ElementBuffer(
                settings.buffering, BluetoothError.Context(.connect), log, first: state.managerState)
            state.stateBuffers[number] = buffer
            return (buffer, number)
        }
    }

    func removeStateBuffer(_ number: Int) {
        state.withLock { $0.stateBuffers[number] = nil }
    }

    /// The adapter's state changed.
    func changeState(to new: CBManagerState) {
        let (ready, buffers, failed, peripherals) = state.withLock { state in
            state.managerState = new
            if new != .poweredOn { state.radioScan = nil }
            defer {
                state.ready = []
                if new.isTerminal { state.scans = [:] }
            }
            return (
                state.ready, Array(state.stateBuffers.values), new.isTerminal ? Array(state.scans.values) : [],
                state.peripherals.values.compactMap(\.peripheral)
            )
        }
        log.debug(.state, "Bluetooth is \(new)")
        for buffer in buffers { buffer.append(new) }
        for consumer in failed { consumer.buffer.finish(BluetoothError(consumer.filter.context, .unavailable(new))) }
        if new != .poweredOn { for peripheral in peripherals { peripheral.core.lostPower(new) } }
        for waiter in ready { waiter.finish(.success(())) }
    }

    // MARK: Peripherals

    /// The one living object for a device, made if there is none.
    ///
    /// The lock is held while the object gets its delegate, so that two objects never contend for it; that setter calls
    /// nobody.
    func peripheral(for object: Unchecked<CBPeripheral>, _ radio: CentralHandle) -> Peripheral {
        let identifier = object.value.identifier
        return state.withLock { state in
            if let known = state.peripherals[identifier]?.peripheral { return known }
            let new = Peripheral(PeripheralCoordinator(object, radio))
            state.peripherals[identifier] = WeakPeripheral(peripheral: new)
            return new
        }
    }

    /// The living object for a device.
    func peripheral(_ identifier: UUID) -> Peripheral? {
        state.withLock { $0.peripherals[identifier]?.peripheral }
    }

    /// An object for a device is gone; another one may have taken its place.
    func forget(_ identifier: UUID) {
        // If the other one's last reference ends here, it ends outside the lock.
        let other = state.withLock { state -> Peripheral? in
            let other = state.peripherals[identifier]?.peripheral
            if other == nil { state.peripherals[identifier] = nil }
            return other
        }
        withExtendedLifetime(other) {}
    }
}

extension CBManagerState {
    /// Whether it does not pass by itself.
    var isTerminal: Bool {
        switch self {
        case .unsupported, .unauthorized, .poweredOff: true
        default: false
        }
    }
}

/// Several scans over the one that a manager has.
extension CentralCoordinator {
    enum ScanChange: Sendable {
        case start(ScanFilter)
        case stop
    }

    /// Adds a consumer; in a state that does not pass by itself it fails at once.
    func addScan(_ consumer: ScanConsumer) -> Int {
        let (number, now) = state.withLock { state in
            let number = state.newNumber()
            if !state.managerState.isTerminal {
                state.scans[number] = consumer
                // A running scan has reported what is there already; a new one reports it again (S20).
                state.mustRestartScan = state.radioScan != nil && !consumer.filter.allowsDuplicates
            }
            return (number, state.managerState)
        }
        if now.isTerminal {
            consumer.buffer.finish(BluetoothError(consumer.filter.context, .unavailable(now)))
        }
        return number
    }

    func removeScan(_ number: Int) {
        // What it was not asked for is let go outside the lock.
        let gone = state.withLock { $0.scans.removeValue(forKey: number) }
        withExtendedLifetime(gone) {}
    }

    /// The next change of the scan is to make it begin anew.
    func requestScanRestart() {
        state.withLock { $0.mustRestartScan = $0.radioScan != nil }
    }

    /// - Returns: Whether nobody else is at it; then ask for changes until there is none.
    func beginApplyingScans() -> Bool {
        state.withLock { state in
            defer { state.isApplyingScans = true }
            return !state.isApplyingScans
        }
    }

    /// What has to be done to the manager's scan; nil ends the applying.
    func nextScanChange() -> ScanChange? {
        state.withLock { state in
            let wanted =
                state.managerState == .poweredOn ? ScanFilter.merged(state.scans.values.map(\.filter)) : nil
            let mustRestart = state.mustRestartScan && wanted?.allowsDuplicates == false
            state.mustRestartScan = false
            guard wanted != state.radioScan || mustRestart, state.managerState == .poweredOn else {
                state.isApplyingScans = false
                return nil
            }
            state.radioScan = wanted
            return wanted.map { .start($0) } ?? .stop
        }
    }

    /// A device was heard.
    func discovered(_ data: AdvertisedData, rssi: Int?, of peripheral: Peripheral) {
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
}

/// The manager's callbacks, on its queue.
extension CentralCoordinator: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        // Restoration comes before the first state or never.
        _ = takeRestorationHandler()
        changeState(to: central.state)
        CentralHandle(core: self, manager: Unchecked(central)).applyScans()
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        let radio = CentralHandle(core: self, manager: Unchecked(central))
        let objects = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        let hasScan = dict[CBCentralManagerRestoredStateScanOptionsKey] != nil
        let services = dict[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID]
        log.debug(.state, "restored \(objects.count) peripherals")
        takeRestorationHandler()?(
            RestoredState(
                peripherals: objects.map { radio.peripheral(for: $0) },
                scannedServices: services ?? (hasScan ? [] : nil)))
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let radio = CentralHandle(core: self, manager: Unchecked(central))
        let rssi = RSSI.intValue
        discovered(
            AdvertisedData(advertisementData), rssi: rssi == Self.unknownRSSI ? nil : rssi,
            of: radio.peripheral(for: peripheral))
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
