import BluetoothEmulator
import CoreBluetoothMock
import CoreBluetoothTesting
import Testing

// A client in Swift 6 mode: server objects are constants, and a `switch` over states has no default.

extension CBMCharacteristicMock {
    fileprivate static let level = CBMCharacteristicMock(
        type: CBMUUID(string: "2A19"), properties: [.read, .notify], descriptors: CBMCCCDescriptorMock())
}

extension CBMServiceMock {
    fileprivate static let battery = CBMServiceMock(
        type: CBMUUID(string: "180F"), primary: true, characteristics: .level)
}

private struct Battery: CBMPeripheralSpecDelegate {
    func peripheral(
        _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor characteristic: CBMCharacteristicMock
    ) -> Result<Data, any Error> {
        .success(Data([99]))
    }
}

private let battery = CBMPeripheralSpec.simulatePeripheral(proximity: .near)
    .advertising(
        advertisementData: [
            CBMAdvertisementDataLocalNameKey: "Battery",
            CBMAdvertisementDataIsConnectable: true as NSNumber,
        ])
    .connectable(name: "Battery", services: [.battery], delegate: Battery())
    .build()

/// A client that reads one value, on the main actor.
@MainActor private final class Reader {
    private let manager: CBMCentralManager
    fileprivate var peripheral: (any CBMPeripheral)?
    fileprivate var level: UInt8?
    fileprivate var status = ""

    init() {
        manager = CBMCentralManagerFactory.instance(delegate: nil, queue: .main)
        manager.delegate = self
    }
}

extension Reader: @preconcurrency CBMCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBMCentralManager) {
        status =
            switch central.state {
            case .unknown, .resetting: "wait"
            case .unsupported, .unauthorized: "no"
            case .poweredOff: "off"
            case .poweredOn: "on"
            }
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBMCentralManager, didDiscover peripheral: any CBMPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        self.peripheral = peripheral
        peripheral.delegate = self
        central.connect(peripheral)
    }

    func centralManager(_ central: CBMCentralManager, didConnect peripheral: any CBMPeripheral) {
        peripheral.discoverServices(nil)
    }
}

extension Reader: @preconcurrency CBMPeripheralDelegate {
    func peripheral(_ peripheral: any CBMPeripheral, didDiscoverServices error: (any Error)?) {
        peripheral.services?.forEach { peripheral.discoverCharacteristics(nil, for: $0) }
    }

    func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverCharacteristicsFor service: CBMService, error: (any Error)?
    ) {
        service.characteristics?.forEach { peripheral.readValue(for: $0) }
    }

    func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateValueFor characteristic: CBMCharacteristic, error: (any Error)?
    ) {
        level = characteristic.value?.first
    }
}

@Suite(.emulator()) struct Swift6ClientTests {
    @MainActor @Test func `A client on the main actor reads a value`() async throws {
        CBMCentralManagerMock.simulatePeripherals([battery])
        CBMCentralManagerMock.simulatePowerOn()
        let reader = Reader()
        try await Emulator.current.advance(by: .seconds(2))
        #expect(reader.status == "on")
        #expect(reader.level == 99)
    }

    @Test func `Proxies take closures that are not Sendable`() {
        let proxy = CBMCentralManagerDelegateProxy()
        var count = 0
        proxy.didUpdateState = { _ in count += 1 }
        proxy.centralManagerDidUpdateState(CBMCentralManager(true))
        #expect(count == 1)
    }
}
