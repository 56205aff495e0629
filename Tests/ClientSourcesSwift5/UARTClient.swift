import CoreBluetooth

protocol UARTClientDelegate: AnyObject {
    func uartDidConnect(_ client: UARTClient)
    func uart(_ client: UARTClient, didReceive text: String)
    func uart(_ client: UARTClient, didFailWith error: Error?)
}

/// A serial line over the Nordic UART Service, in the manner of older code: one class, all on the main queue.
class UARTClient: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
    static let serviceUUID = CBUUID(string: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E")
    static let rxUUID = CBUUID(string: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E")
    static let txUUID = CBUUID(string: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E")

    weak var delegate: UARTClientDelegate?
    private var centralManager: CBCentralManager!
    private var uart: CBPeripheral?
    private var rx: CBCharacteristic?
    private var seen = Set<CBPeripheral>()
    var wanted: UUID?

    override init() {
        super.init()
        centralManager = CBCentralManager(delegate: self, queue: nil)
    }

    func send(_ text: String) {
        guard let uart = uart, let rx = rx, uart.state == .connected else { return }
        let type: CBCharacteristicWriteType = rx.properties.contains(.write) ? .withResponse : .withoutResponse
        let size = uart.maximumWriteValueLength(for: type)
        var data = Data(text.utf8)
        while data.count > 0 {
            uart.writeValue(Data(data.prefix(size)), for: rx, type: type)
            data = data.dropFirst(size)
        }
    }

    func disconnect() {
        if let uart = uart { centralManager.cancelPeripheralConnection(uart) }
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state != .poweredOn {
            uart = nil
            return
        }
        if let wanted = wanted, let known = central.retrievePeripherals(withIdentifiers: [wanted]).first {
            uart = known
            central.connect(known, options: [CBConnectPeripheralOptionNotifyOnDisconnectionKey: true])
            return
        }
        central.scanForPeripherals(
            withServices: [UARTClient.serviceUUID], options: [CBCentralManagerScanOptionAllowDuplicatesKey: false])
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        if seen.contains(peripheral) || RSSI.intValue < -80 { return }
        seen.insert(peripheral)
        NSLog("%@", "found \(peripheral.name ?? "?") \(RSSI) \(advertisementData)")
        uart = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral, options: nil)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        peripheral.discoverServices([UARTClient.serviceUUID])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: Error?) {
        delegate?.uart(self, didFailWith: error)
    }

    func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
        if let error = error as? CBError, error.code == CBError.connectionTimeout {
            central.connect(peripheral)
        } else {
            delegate?.uart(self, didFailWith: error)
        }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
        peripheral.services?.forEach { peripheral.discoverCharacteristics(nil, for: $0) }
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
        guard let characteristics = service.characteristics else { return }
        for characteristic in characteristics {
            if characteristic.uuid.isEqual(UARTClient.txUUID) {
                peripheral.setNotifyValue(true, for: characteristic)
            } else if characteristic.uuid == UARTClient.rxUUID {
                rx = characteristic
            }
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: Error?
    ) {
        if characteristic.isNotifying { delegate?.uartDidConnect(self) }
    }

    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
        guard error == nil, let value = characteristic.value else { return }
        delegate?.uart(self, didReceive: String(data: value, encoding: .utf8) ?? "")
    }

    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: Error?) {
        if let error = error { delegate?.uart(self, didFailWith: error) }
    }
}
