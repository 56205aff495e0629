import Foundation

/// A delegate that receives the events of one sensor; called on the main queue.
protocol SensorDelegate: AnyObject {
    /// All services are discovered, and all values are observed.
    func sensorDidBecomeReady(_ sensor: Sensor)
    func sensor(_ sensor: Sensor, didMeasure reading: Reading)
    func sensor(_ sensor: Sensor, didFailWith error: Error)
}

/// A sensor: discovers its services, reads and observes its values, and lets it alert.
///
/// Everything runs on the main queue, on which the central manager delivers.
final class Sensor: NSObject {
    let peripheral: CBPeripheral
    weak var delegate: SensorDelegate?
    /// The strength of the last packet in dBm; nil before the first.
    var signalStrength: Int?
    private(set) var isReady = false
    private let advertisedName: String?
    private var alertLevel: CBCharacteristic?
    /// The number of unanswered discoveries and subscriptions, before the sensor is ready.
    private var pendingCount = 0

    init(_ peripheral: CBPeripheral, advertisedName: String?) {
        self.peripheral = peripheral
        self.advertisedName = advertisedName
        super.init()
        peripheral.delegate = self
    }

    var identifier: UUID { peripheral.identifier }
    var name: String { peripheral.name ?? advertisedName ?? identifier.uuidString }
    var isConnected: Bool { peripheral.state == .connected }

    func beginConnection() {
        endConnection()
        peripheral.discoverServices(SensorProfile.services)
    }

    func endConnection() {
        isReady = false
        alertLevel = nil
        pendingCount = 0
    }

    /// Lets the sensor alert.
    func alert(_ level: AlertLevel) throws {
        guard let alertLevel else { throw SensorError.noAlert }
        let type: CBCharacteristicWriteType =
            alertLevel.properties.contains(.writeWithoutResponse) ? .withoutResponse : .withResponse
        peripheral.writeValue(Data([level.rawValue]), for: alertLevel, type: type)
    }

    private func use(_ characteristic: CBCharacteristic) {
        switch characteristic.uuid {
        case SensorProfile.alertLevel: alertLevel = characteristic
        case SensorProfile.batteryLevel, SensorProfile.humidity, SensorProfile.temperature:
            if characteristic.properties.contains(.notify) {
                pendingCount += 1
                peripheral.setNotifyValue(true, for: characteristic)
            }
            if characteristic.properties.contains(.read) { peripheral.readValue(for: characteristic) }
        default: break
        }
    }

    private func finishStep() {
        pendingCount -= 1
        guard pendingCount == 0 else { return }
        isReady = true
        delegate?.sensorDidBecomeReady(self)
    }

    private func fail(_ error: Error) { delegate?.sensor(self, didFailWith: error) }
}

extension Sensor: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        if let error { return fail(error) }
        let services = (peripheral.services ?? []).filter { SensorProfile.services.contains($0.uuid) }
        guard services.contains(where: { $0.uuid == SensorProfile.battery }) else {
            return fail(SensorError.noBattery)
        }
        pendingCount = services.count
        services.forEach { peripheral.discoverCharacteristics(nil, for: $0) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        if let error { return fail(error) }
        service.characteristics?.forEach(use)
        finishStep()
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: Error?
    ) {
        if let error { fail(error) }
        finishStep()
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        if let error { return fail(error) }
        guard let reading = Reading(characteristic.value ?? Data(), of: characteristic.uuid) else {
            return fail(SensorError.malformedValue(characteristic.uuid))
        }
        delegate?.sensor(self, didMeasure: reading)
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: Error?) {
        if let error { fail(error) }
    }

    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {
        beginConnection()
    }
}
