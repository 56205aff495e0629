import BluetoothLocking
import CoreBluetooth
import Synchronization

/// A central manager together with the state that is kept for it.
struct CentralHandle: Sendable {
    let core: CentralCoordinator
    let manager: Unchecked<CBCentralManager>

    /// The time by which its timeouts run.
    var clock: ManagerClock { ManagerClock(of: manager.value) }

    // MARK: Peripherals

    /// The one object for a device.
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

    /// Makes the radio report again what is there.
    func restartScan() {
        core.requestScanRestart()
        applyScans()
    }

    /// Brings the radio to what the consumers want, one change at a time.
    func applyScans() {
        guard core.beginApplyingScans() else { return }
        while let change = core.nextScanChange() {
            switch change {
            case .start(let filter):
                core.log.debug(.scan, "scan for \(filter.uuids?.description ?? "all")")
                manager.value.scanForPeripherals(withServices: filter.uuids, options: filter.options)
            case .stop:
                core.log.debug(.scan, "scan ends")
                manager.value.stopScan()
            }
        }
    }
}
