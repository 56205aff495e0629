import BluetoothLocking
import CoreBluetooth
import Synchronization

/// Several scans over the one that a manager has.
extension CentralCore {
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
