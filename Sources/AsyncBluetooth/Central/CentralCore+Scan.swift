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
            if !state.managerState.isTerminal { state.scans[number] = consumer }
            return (number, state.managerState)
        }
        if now.isTerminal {
            consumer.feed.finish(BluetoothError(consumer.filter.context, .unavailable(now)))
        }
        return number
    }

    func removeScan(_ number: Int) {
        // What it was not asked for is let go outside the lock.
        let gone = state.withLock { $0.scans.removeValue(forKey: number) }
        withExtendedLifetime(gone) {}
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
            guard wanted != state.radioScan, state.managerState == .poweredOn else {
                state.isApplyingScans = false
                return nil
            }
            state.radioScan = wanted
            return wanted.map { .start($0) } ?? .stop
        }
    }

    /// A device was heard.
    func discovered(_ data: AdvertisedData, rssi: Int?, of peripheral: Peripheral) {
        let feeds = state.withLock { state -> [Feed<DiscoveredPeripheral>] in
            var feeds: [Feed<DiscoveredPeripheral>] = []
            for number in state.scans.keys.sorted()
            where state.scans[number]?.takes(data, of: peripheral.identifier) == true {
                if let feed = state.scans[number]?.feed { feeds.append(feed) }
            }
            return feeds
        }
        let found = DiscoveredPeripheral(peripheral: peripheral, advertisement: data, rssi: rssi)
        for feed in feeds { feed.yield(found) }
    }
}
