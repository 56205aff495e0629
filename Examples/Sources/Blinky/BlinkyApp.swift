import CoreBluetooth

/// An app that controls a board with Nordic Semiconductor's LED Button Service: it switches the LED and observes the
/// button.
///
/// The class uses only CoreBluetooth, and no emulator. Everything runs on the main queue, on which the manager
/// delivers.
@MainActor
package final class BlinkyApp: NSObject {
    /// The progress of the connection.
    package enum Phase: Equatable, Sendable {
        /// The adapter is not usable yet.
        case waiting
        /// The class scans for a board.
        case searching
        /// The class connects and discovers.
        case connecting
        /// The LED can be switched.
        case ready
        /// The board cannot be used.
        case failed(String)
    }

    /// The LED Button Service.
    package static let service = CBUUID(string: "00001523-1212-EFDE-1523-785FEABCD123")
    static let button = CBUUID(string: "00001524-1212-EFDE-1523-785FEABCD123")
    static let led = CBUUID(string: "00001525-1212-EFDE-1523-785FEABCD123")

    /// The progress of the connection.
    package private(set) var phase = Phase.waiting {
        didSet { if phase != oldValue { onChange?() } }
    }
    /// Whether the button is pressed.
    package private(set) var isButtonPressed = false {
        didSet { if isButtonPressed != oldValue { onChange?() } }
    }
    /// Whether the board has confirmed that the LED is on.
    package private(set) var isLEDOn = false {
        didSet { if isLEDOn != oldValue { onChange?() } }
    }
    /// Called after each change of the properties above.
    package var onChange: (() -> Void)?

    private var central: CBCentralManager?
    private var board: CBPeripheral?
    private var led: CBCharacteristic?
    private var wanted: [Bool] = []

    /// Scans for a board as soon as the adapter is on.
    package override init() {
        super.init()
        central = CBCentralManager(delegate: self, queue: nil)
    }

    /// Switches the LED; ``isLEDOn`` changes when the board has responded.
    package func setLED(_ isOn: Bool) {
        guard phase == .ready, let board, let led else { return }
        wanted.append(isOn)
        board.writeValue(Data([isOn ? 1 : 0]), for: led, type: .withResponse)
    }

    private func forgetLink() {
        led = nil
        wanted = []
        isButtonPressed = false
        isLEDOn = false
    }
}

extension BlinkyApp: @preconcurrency CBCentralManagerDelegate {
    package func centralManagerDidUpdateState(_ central: CBCentralManager) {
        forgetLink()
        guard central.state == .poweredOn else {
            phase = .waiting
            return
        }
        phase = .searching
        central.scanForPeripherals(withServices: [Self.service])
    }

    package func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.stopScan()
        board = peripheral
        phase = .connecting
        central.connect(peripheral)
    }

    package func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.delegate = self
        peripheral.discoverServices([Self.service])
    }

    package func centralManager(
        _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
    ) {
        central.connect(peripheral)
    }

    package func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        forgetLink()
        phase = .connecting
        // This does not time out; it waits until the board returns.
        central.connect(peripheral)
    }
}

extension BlinkyApp: @preconcurrency CBPeripheralDelegate {
    package func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let service = peripheral.services?.first(where: { $0.uuid == Self.service }) else {
            phase = .failed("no LED Button Service")
            return
        }
        peripheral.discoverCharacteristics([Self.led, Self.button], for: service)
    }

    package func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        for characteristic in service.characteristics ?? [] {
            switch characteristic.uuid {
            case Self.led: led = characteristic
            case Self.button: peripheral.setNotifyValue(true, for: characteristic)
            default: break
            }
        }
        phase = led == nil ? .failed("no LED") : .ready
    }

    package func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        guard error == nil, characteristic.uuid == Self.button else { return }
        isButtonPressed = characteristic.value?.first == 1
    }

    package func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        guard characteristic.uuid == Self.led, !wanted.isEmpty else { return }
        let isOn = wanted.removeFirst()
        if error == nil { isLEDOn = isOn }
    }
}
