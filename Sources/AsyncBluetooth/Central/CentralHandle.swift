import BluetoothSupport
import CoreBluetooth

struct CentralHandle: Sendable {
    let core: CentralCoordinator
    let manager: Unchecked<CBCentralManager>

    var clock: ManagerClock { ManagerClock(of: manager.value) }

    // MARK: Peripherals

    /// The one object of a device.
    func peripheral(for object: CBPeripheral) -> Peripheral {
        core.peripheral(for: Unchecked(object), self)
    }

    // MARK: Scanning

    func addScan(_ filter: ScanFilter, _ buffer: ElementBuffer<DiscoveredPeripheral>) -> Int {
        let number = core.addScan(ScanConsumer(filter, buffer))
        applyScans()
        return number
    }

    func removeScan(_ number: Int) {
        core.removeScan(number)
        applyScans()
    }

    /// Restarts the scan, so that present devices are reported again.
    func restartScan() {
        core.requestScanRestart()
        applyScans()
    }

    /// Changes the manager's scan to what the consumers need, one call at a time.
    func applyScans() {
        guard core.state.withLock({ $0.scanPump.begin() }) else { return }
        repeat {
            while let change = core.nextScanChange() {
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
