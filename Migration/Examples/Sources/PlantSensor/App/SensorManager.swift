import Foundation

/// A delegate that receives the events of sensors; called on the main queue.
protocol SensorManagerDelegate: AnyObject {
    /// The adapter became usable, or unusable; see ``SensorManager/problem``.
    func sensorManagerDidChangeState(_ manager: SensorManager)
    func sensorManager(_ manager: SensorManager, didFind sensor: Sensor)
    func sensorManager(_ manager: SensorManager, didConnect sensor: Sensor)
    func sensorManager(_ manager: SensorManager, didFailToConnect sensor: Sensor, error: Error?)
    /// The connection ended; the error is nil if the app ended it.
    func sensorManager(_ manager: SensorManager, didDisconnect sensor: Sensor, error: Error?)
}

/// A manager that finds sensors, connects to them, and reconnects when a connection is lost.
///
/// Everything runs on the main queue, on which the central manager delivers.
final class SensorManager: NSObject {
    weak var delegate: SensorManagerDelegate?
    /// The sensors that were found or retrieved.
    private(set) var sensors: [Sensor] = []
    private let central: CBCentralManager
    private var isSearching = false
    /// The sensors that are to be connected.
    private var wanted: Set<UUID> = []

    init(central: CBCentralManager = CBCentralManagerFactory.instance(delegate: nil, queue: nil)) {
        self.central = central
        super.init()
        central.delegate = self
    }

    /// The reason that the adapter cannot be used; nil if it can.
    var problem: SensorError? {
        switch central.state {
        case .poweredOn: nil
        case .poweredOff: .adapterIsOff
        case .unauthorized: .notAuthorized
        case .unsupported: .noAdapter
        default: .adapterIsNotReady
        }
    }

    /// Scans for sensors, as soon as the adapter can be used.
    func startSearch() {
        isSearching = true
        search()
    }

    func stopSearch() {
        isSearching = false
        if problem == nil { central.stopScan() }
    }

    /// Returns the sensor that the system knows by an identifier, without a scan.
    func retrieveSensor(_ identifier: UUID) throws -> Sensor {
        if let problem { throw problem }
        guard let peripheral = central.retrievePeripherals(withIdentifiers: [identifier]).first else {
            throw SensorError.unknownSensor(identifier)
        }
        return sensor(of: peripheral) ?? add(Sensor(peripheral, advertisedName: nil))
    }

    /// Connects without a time limit, and again after each loss.
    func connect(_ sensor: Sensor) {
        wanted.insert(sensor.identifier)
        if problem == nil { central.connect(sensor.peripheral) }
    }

    func disconnect(_ sensor: Sensor) {
        wanted.remove(sensor.identifier)
        if problem == nil { central.cancelPeripheralConnection(sensor.peripheral) }
    }

    private func search() {
        guard isSearching, problem == nil else { return }
        central.scanForPeripherals(
            withServices: [SensorProfile.battery],
            options: [CBCentralManagerScanOptionAllowDuplicatesKey: true as NSNumber])
    }

    private func sensor(of peripheral: CBPeripheral) -> Sensor? {
        sensors.first { $0.identifier == peripheral.identifier }
    }

    private func add(_ sensor: Sensor) -> Sensor {
        sensors.append(sensor)
        return sensor
    }
}

extension SensorManager: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if problem == nil {
            search()
            sensors.filter { wanted.contains($0.identifier) }.forEach { central.connect($0.peripheral) }
        } else {
            // All connections ended, without separate callbacks.
            sensors.forEach { $0.endConnection() }
        }
        delegate?.sensorManagerDidChangeState(self)
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if let known = sensor(of: peripheral) {
            known.signalStrength = RSSI.intValue
            return
        }
        let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String
        let sensor = add(Sensor(peripheral, advertisedName: name))
        sensor.signalStrength = RSSI.intValue
        delegate?.sensorManager(self, didFind: sensor)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        guard let sensor = sensor(of: peripheral) else { return }
        delegate?.sensorManager(self, didConnect: sensor)
        sensor.beginConnection()
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
        guard let sensor = sensor(of: peripheral) else { return }
        wanted.remove(sensor.identifier)
        delegate?.sensorManager(self, didFailToConnect: sensor, error: error)
    }

    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
        guard let sensor = sensor(of: peripheral) else { return }
        sensor.endConnection()
        delegate?.sensorManager(self, didDisconnect: sensor, error: error)
        if wanted.contains(sensor.identifier) { central.connect(peripheral) }
    }
}
