import Foundation

/// A scanner that finds boards with a button and an LED.
final class BlinkyScanner {
    private let manager: CBCentralManager
    private(set) var boards: [BlinkyBoard] = []
    /// Called with each new board.
    var onDiscovery: ((BlinkyBoard) -> Void)?
    /// Called with each state of the adapter.
    var onState: ((CBManagerState) -> Void)?

    init(manager: CBCentralManager = CBCentralManagerFactory.instance(delegate: nil, queue: nil)) {
        self.manager = manager
        manager.delegate = self
    }

    func start() {
        manager.delegate = self
        manager.scanForPeripherals(
            withServices: [BlinkyBoard.service],
            options: [CBCentralManagerScanOptionAllowDuplicatesKey: true as NSNumber])
    }

    func stop() { manager.stopScan() }

    /// The text that the app shows about the adapter.
    var status: String {
        switch manager.state {
        case .unknown: return "unknown"
        case .resetting: return "resetting"
        case .unsupported: return "unsupported"
        case .unauthorized: return "unauthorized"
        case .poweredOff: return "off"
        case .poweredOn: return "on"
        }
    }
}

extension BlinkyScanner: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) { onState?(central.state) }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if let known = boards.first(where: { $0.peripheral.identifier == peripheral.identifier }) {
            known.rssi = RSSI.intValue
            return
        }
        let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String
        let board = BlinkyBoard(peripheral, name: name ?? "Unknown", rssi: RSSI.intValue, manager: manager)
        boards.append(board)
        onDiscovery?(board)
    }
}
