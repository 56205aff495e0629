import CoreBluetooth

/// A central that the system may restore, with the callbacks that few apps use.
class RestoringCentral: NSObject, CBCentralManagerDelegate {
    private var peripherals: [CBPeripheral] = []
    private lazy var central = CBCentralManager(
        delegate: self, queue: DispatchQueue(label: "restoring"),
        options: [
            CBCentralManagerOptionRestoreIdentifierKey: "central", CBCentralManagerOptionShowPowerAlertKey: false,
        ])
    private var lastSeen: CFAbsoluteTime = 0

    func start() {
        _ = central
        guard CBManager.authorization == .allowedAlways else { return }
        if CBCentralManager.supports(.extendedScanAndConnect) { NSLog("extended") }
    }

    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
        peripherals = dict[CBCentralManagerRestoredStatePeripheralsKey] as? [CBPeripheral] ?? []
        let services = dict[CBCentralManagerRestoredStateScanServicesKey] as? [CBUUID]
        let options = dict[CBCentralManagerRestoredStateScanOptionsKey] as? [String: Any]
        NSLog("%@", "restored \(peripherals.count) \(services ?? []) \(options ?? [:])")
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.registerForConnectionEvents(options: [.serviceUUIDs: [CBUUID(string: "180D")]])
        for peripheral in peripherals where peripheral.state != .connected {
            central.connect(
                peripheral,
                options: [
                    CBConnectPeripheralOptionEnableAutoReconnect: true, CBConnectPeripheralOptionStartDelayKey: 2,
                ])
        }
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: Error?
    ) {
        lastSeen = timestamp
        if !isReconnecting { peripherals.removeAll { $0 == peripheral } }
    }

    func centralManager(
        _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
    ) {
        switch event {
        case .peerConnected: peripherals.append(peripheral)
        case .peerDisconnected: peripherals.removeAll { $0.identifier == peripheral.identifier }
        @unknown default: break
        }
    }

    func centralManager(_ central: CBCentralManager, didUpdateANCSAuthorizationFor peripheral: CBPeripheral) {
        NSLog("%@", "\(peripheral.ancsAuthorized)")
    }
}
