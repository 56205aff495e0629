import Foundation

protocol BlinkyBoardDelegate: AnyObject {
    func boardDidBecomeReady(_ board: BlinkyBoard)
    func board(_ board: BlinkyBoard, buttonIsPressed: Bool)
    func board(_ board: BlinkyBoard, ledIsOn: Bool)
    func board(_ board: BlinkyBoard, didDisconnectWith error: Error?)
    func board(_ board: BlinkyBoard, didFailWith error: Error?)
}

/// A board: connects, discovers, reads the button and switches the LED.
final class BlinkyBoard: NSObject, CBPeripheralDelegate, CBCentralManagerDelegate {
    static let service = CBUUID(string: "00001523-1212-EFDE-1523-785FEABCD123")
    static let button = CBUUID(string: "00001524-1212-EFDE-1523-785FEABCD123")
    static let led = CBUUID(string: "00001525-1212-EFDE-1523-785FEABCD123")

    let peripheral: CBPeripheral
    let advertisedName: String
    var rssi: Int
    weak var delegate: BlinkyBoardDelegate?
    private let manager: CBCentralManager
    private var ledCharacteristic: CBCharacteristic?

    init(_ peripheral: CBPeripheral, name: String, rssi: Int, manager: CBCentralManager) {
        self.peripheral = peripheral
        advertisedName = name
        self.rssi = rssi
        self.manager = manager
        super.init()
        peripheral.delegate = self
    }

    var isConnected: Bool { peripheral.state == .connected }

    func connect() {
        manager.delegate = self
        if #available(iOS 17.0, *) {
            manager.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: true as NSNumber])
        } else {
            manager.connect(peripheral)
        }
    }

    func disconnect() { manager.cancelPeripheralConnection(peripheral) }

    func turnLed(on isOn: Bool) {
        guard let ledCharacteristic else { return }
        let type: CBCharacteristicWriteType =
            ledCharacteristic.properties.contains(.write) ? .withResponse : .withoutResponse
        peripheral.writeValue(Data([isOn ? 1 : 0]), for: ledCharacteristic, type: type)
    }

    // MARK: CBCentralManagerDelegate

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state != .poweredOn { delegate?.board(self, didDisconnectWith: nil) }
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        guard peripheral === self.peripheral else { return }
        peripheral.discoverServices([Self.service])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
        delegate?.board(self, didFailWith: error)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
        isReconnecting: Bool, error: Error?
    ) {
        ledCharacteristic = nil
        delegate?.board(self, didDisconnectWith: error)
    }

    // MARK: CBPeripheralDelegate

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        for service in peripheral.services ?? [] where service.uuid == Self.service {
            peripheral.discoverCharacteristics([Self.button, Self.led], for: service)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        for characteristic in service.characteristics ?? [] {
            if characteristic.uuid == Self.button { peripheral.setNotifyValue(true, for: characteristic) }
            if characteristic.uuid == Self.led {
                ledCharacteristic = characteristic
                peripheral.readValue(for: characteristic)
            }
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: Error?
    ) {
        if error == nil, characteristic.isNotifying { delegate?.boardDidBecomeReady(self) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        guard let byte = characteristic.value?.first else { return }
        switch characteristic.uuid {
        case Self.button: delegate?.board(self, buttonIsPressed: byte == 1)
        case Self.led: delegate?.board(self, ledIsOn: byte == 1)
        default: break
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: Error?) {
        if let error { return delegate?.board(self, didFailWith: error) ?? () }
        peripheral.readValue(for: characteristic)
    }
}
