import CoreBluetooth

/// The peripheral role: a thermometer that others read, write and subscribe to, with a channel.
class ThermometerPeripheral: NSObject, CBPeripheralManagerDelegate {
    private var manager: CBPeripheralManager!
    private var channel: CBL2CAPChannel?
    private var queued: [Data] = []
    private var interval = Data([1, 0])
    private let measurement = CBMutableCharacteristic(
        type: CBUUID(string: "2A1C"), properties: [.indicate, .notifyEncryptionRequired], value: nil,
        permissions: [.readable])
    private let measurementInterval = CBMutableCharacteristic(
        type: CBUUID(string: "2A21"), properties: [.read, .write], value: nil,
        permissions: [.readable, .writeable, .writeEncryptionRequired])

    override init() {
        super.init()
        manager = CBPeripheralManager(
            delegate: self, queue: nil, options: [CBPeripheralManagerOptionRestoreIdentifierKey: "thermometer"])
    }

    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else { return }
        measurement.descriptors = [
            CBMutableDescriptor(type: CBUUID(string: CBUUIDCharacteristicUserDescriptionString), value: "Temperature")
        ]
        let service = CBMutableService(type: CBUUID(string: "1809"), primary: true)
        service.characteristics = [measurement, measurementInterval]
        peripheral.removeAllServices()
        peripheral.add(service)
        peripheral.publishL2CAPChannel(withEncryption: true)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        let services = dict[CBPeripheralManagerRestoredStateServicesKey] as? [CBMutableService] ?? []
        for service in services { NSLog("%@", "restored \(service.uuid)") }
        _ = dict[CBPeripheralManagerRestoredStateAdvertisementDataKey] as? [String: Any]
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: Error?) {
        if let error = error {
            NSLog("%@", error.localizedDescription)
            return
        }
        peripheral.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Thermometer", CBAdvertisementDataServiceUUIDsKey: [service.uuid],
        ])
    }

    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: Error?) {
        if let error = error as? CBError, error.code == .alreadyAdvertising { peripheral.stopAdvertising() }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
    ) {
        peripheral.setDesiredConnectionLatency(.low, for: central)
        let length = central.maximumUpdateValueLength
        send(Data(count: min(length, 13)))
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        if measurement.subscribedCentrals?.isEmpty ?? true { queued.removeAll() }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard request.characteristic.uuid == measurementInterval.uuid else {
            peripheral.respond(to: request, withResult: .attributeNotFound)
            return
        }
        guard request.offset <= interval.count else {
            peripheral.respond(to: request, withResult: .invalidOffset)
            return
        }
        request.value = interval.subdata(in: request.offset..<interval.count)
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        for request in requests where (request.value?.count ?? 0) != 2 {
            peripheral.respond(to: request, withResult: CBATTError.Code(rawValue: 0x80) ?? .unlikelyError)
            return
        }
        requests.forEach { interval = $0.value ?? interval }
        if let first = requests.first { peripheral.respond(to: first, withResult: .success) }
    }

    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
        while let next = queued.first, peripheral.updateValue(next, for: measurement, onSubscribedCentrals: nil) {
            queued.removeFirst()
        }
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didPublishL2CAPChannel PSM: CBL2CAPPSM, error: Error?) {
        NSLog("%@", "PSM \(PSM)")
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: Error?) {
        self.channel = channel
        channel?.inputStream.open()
        channel?.outputStream.open()
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didUnpublishL2CAPChannel PSM: CBL2CAPPSM, error: Error?) {
        channel = nil
    }

    private func send(_ value: Data) {
        if !manager.updateValue(value, for: measurement, onSubscribedCentrals: nil) { queued.append(value) }
    }
}
