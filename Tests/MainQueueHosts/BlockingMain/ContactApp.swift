import CoreBluetooth

/// An app with both roles, like a contact tracer or a node of a mesh: it advertises a service, and scans for every device.
///
/// Prints whether it found itself, and ends, when it has received twenty packets of one other device while it advertised.
/// Every device advertises at least once a second, so the app's own packets would have been among them.
final class ContactApp: NSObject, CBCentralManagerDelegate, CBPeripheralManagerDelegate {
    private static let service = CBUUID(string: "C0DE")

    private var central: CBCentralManager?
    private var peripheral: CBPeripheralManager?
    private var packets: [UUID: Int] = [:]
    private var foundItself = false

    func start() {
        central = CBCentralManager(delegate: self, queue: nil)
        peripheral = CBPeripheralManager(delegate: self, queue: nil)
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if let error { print("cannot advertise: \(error)") }
        scanIfReady()
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) { scanIfReady() }

    private func scanIfReady() {
        guard let central, central.state == .poweredOn, peripheral?.isAdvertising == true else { return }
        central.scanForPeripherals(withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        let services = advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        guard !services.contains(Self.service) else { return foundItself = true }
        packets[peripheral.identifier, default: 0] += 1
        guard packets[peripheral.identifier] == 20 else { return }
        print(foundItself ? "found itself" : "found others alone")
        exit(0)
    }
}
