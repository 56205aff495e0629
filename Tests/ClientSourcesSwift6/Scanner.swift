import CoreBluetooth

/// A scanner on the main actor, which lists devices in range and retains them.
@MainActor
final class Scanner: NSObject {
    struct Sighting {
        let peripheral: CBPeripheral
        var name: String?
        var rssi: Int
        var txPower: Int?
        var isConnectable: Bool
        var company: UInt16?
        var services: [CBUUID]
        var battery: UInt8?
    }

    enum Problem: Error {
        case off, missing, forbidden
    }

    static let batteryService = CBUUID(string: "180F")

    private(set) var sightings: [UUID: Sighting] = [:]
    private(set) var problem: Problem?
    private var manager: CBCentralManager?
    private let filter: [CBUUID]?

    init(filter: [CBUUID]? = nil) {
        self.filter = filter
        super.init()
    }

    func start() {
        manager = CBCentralManager(
            delegate: self, queue: .main, options: [CBCentralManagerOptionShowPowerAlertKey: true])
    }

    func stop() {
        guard let manager, manager.isScanning else { return }
        manager.stopScan()
    }

    private func apply(_ state: CBManagerState) {
        switch state {
        case .poweredOn:
            problem = nil
            manager?.scanForPeripherals(
                withServices: filter, options: [CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: true)])
        case .poweredOff: problem = .off
        case .unsupported: problem = .missing
        case .unauthorized: problem = .forbidden
        case .unknown, .resetting: break
        @unknown default: break
        }
    }
}

extension Scanner: @preconcurrency CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        apply(central.state)
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard RSSI.intValue != 127 else { return }
        let manufacturer = advertisementData[CBAdvertisementDataManufacturerDataKey] as? Data
        let serviceData = advertisementData[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:]
        sightings[peripheral.identifier] = Sighting(
            peripheral: peripheral,
            name: advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? peripheral.name,
            rssi: RSSI.intValue,
            txPower: (advertisementData[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue,
            isConnectable: advertisementData[CBAdvertisementDataIsConnectable] as? Bool ?? false,
            company: manufacturer.flatMap { $0.count < 2 ? nil : UInt16($0[0]) | UInt16($0[1]) << 8 },
            services: advertisementData[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? [],
            battery: serviceData[Self.batteryService]?.first)
    }
}
