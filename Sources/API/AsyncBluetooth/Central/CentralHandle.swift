import BluetoothSupport
import CoreBluetooth

struct CentralHandle: Sendable {
    let core: CentralCoordinator
    let manager: Unchecked<CBCentralManager>

    var clock: ManagerClock { ManagerClock(of: manager.value) }

    // MARK: Peripherals

    /// Returns the one object of a device, creating it if needed.
    ///
    /// The object's delegate is set under the lock, so that two objects never contend for it; the setter makes no
    /// calls.
    func peripheral(for object: CBPeripheral) -> Peripheral {
        let (identifier, object) = (object.identifier, Unchecked(object))
        let (peripheral, isKnown) = core.state.withLock { state in
            if let known = state.peripherals[identifier]?.peripheral { return (known, true) }
            let new = Peripheral(PeripheralCoordinator(object, self))
            state.peripherals[identifier] = CentralCoordinator.WeakPeripheral(peripheral: new)
            return (new, false)
        }
        if isKnown { peripheral.core.replaceObject(with: object) }
        return peripheral
    }

    // MARK: Scanning

    /// Adds a consumer; fails at once in a state that only a person or a program can change.
    func addScan(_ consumer: ScanConsumer) -> Int {
        let (number, now) = core.state.withLock { state in
            state.lastScan += 1
            if !state.adapter.state.isTerminal {
                state.scans[state.lastScan] = consumer
                // A running scan has reported the present devices already; a new scan reports them again (S20).
                state.mustRestartScan = state.managerScan != nil && !consumer.filter.allowsDuplicates
            }
            return (state.lastScan, state.adapter.state)
        }
        if now.isTerminal { consumer.buffer.finish(BluetoothError(consumer.filter.context, .unavailable(now))) }
        applyScans()
        return number
    }

    func removeScan(_ number: Int) {
        // Elements that were not read are released outside the lock.
        let gone = core.state.withLock { $0.scans.removeValue(forKey: number) }
        withExtendedLifetime(gone) {}
        applyScans()
    }

    /// Restarts the scan, so that present devices are reported again.
    func restartScan() {
        core.state.withLock { $0.mustRestartScan = $0.managerScan != nil }
        applyScans()
    }

    /// Adapts the manager's scan to the consumers, one call at a time.
    func applyScans() {
        guard core.state.withLock({ $0.scanPump.begin() }) else { return }
        repeat {
            while let change = core.state.withLock({ $0.nextScanChange() }) {
                switch change {
                case .start(let filter):
                    core.log.debug(.scan, "scan for \(filter.uuids?.description ?? "all")")
                    manager.value.scanForPeripherals(withServices: filter.uuids, options: filter.options)
                case .stop:
                    core.log.debug(.scan, "stop scan")
                    manager.value.stopScan()
                }
            }
        } while core.state.withLock { $0.scanPump.mustRepeat() }
    }
}
