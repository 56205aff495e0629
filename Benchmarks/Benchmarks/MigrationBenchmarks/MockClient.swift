import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothMock
import Dispatch
import Foundation

/// An app written for CoreBluetooth Mock, with one connection to a device without latency.
final class MockClient: NSObject, CBMCentralManagerDelegate, CBMPeripheralDelegate, @unchecked Sendable {
    // Invariant: everything below is used only on `queue`, except for the constants.
    private static let service = CBMUUID(string: "180D")
    private static let heartRate = CBMUUID(string: "2A37")

    private let queue = DispatchQueue(label: "benchmark")
    private let done = DispatchSemaphore(value: 0)
    private let emulator = Emulator(configuration: .quiet)
    private let spec: CBMPeripheralSpec
    private let served: CBMCharacteristicMock
    private var manager: CBMCentralManager?
    private var peripheral: (any CBMPeripheral)?
    private var characteristic: CBMCharacteristic?
    private var toStart = 0
    private var toFinish = 0
    private var next: () -> Void = {}

    /// A delegate that answers each read with the value of the benchmarks.
    private struct Delegate: CBMPeripheralSpecDelegate {
        func peripheral(
            _ peripheral: CBMPeripheralSpec, didReceiveReadRequestFor characteristic: CBMCharacteristicMock
        ) -> Result<Data, any Error> { .success(LinkClient.value) }
    }

    override init() {
        served = CBMCharacteristicMock(type: Self.heartRate, properties: [.read, .notify])
        spec = CBMPeripheralSpec.simulatePeripheral()
            .advertising(
                advertisementData: [
                    CBMAdvertisementDataServiceUUIDsKey: [Self.service],
                    CBMAdvertisementDataIsConnectable: true as NSNumber,
                ], withInterval: 0.02
            )
            .connectable(
                name: "Device",
                services: [CBMServiceMock(type: Self.service, primary: true, characteristics: [served])],
                delegate: Delegate(), connectionInterval: 0, mtu: 185
            )
            .build()
        super.init()
        CBManager.withBackend(.emulator(emulator)) {
            CBMCentralManagerMock.simulatePeripherals([spec])
            CBMCentralManagerMock.simulateInitialState(.poweredOn)
            manager = CBMCentralManagerFactory.instance(delegate: self, queue: queue, forceMock: true)
        }
        done.wait()
    }

    func read(count: Int) {
        run(count, 1) { [self] in
            if let characteristic { peripheral?.readValue(for: characteristic) }
        }
    }

    func notify(count: Int, outstanding: Int) {
        run(count, outstanding) { [self] in spec.simulateValueUpdate(LinkClient.value, for: served) }
    }

    private func run(_ count: Int, _ outstanding: Int, _ body: @escaping () -> Void) {
        nonisolated(unsafe) let body = body
        queue.async { [self] in
            toFinish = count
            toStart = count - outstanding
            next = body
            for _ in 0..<outstanding { body() }
        }
        done.wait()
    }

    // MARK: Delegate

    func centralManagerDidUpdateState(_ central: CBMCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBMCentralManager, didDiscover peripheral: any CBMPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard self.peripheral == nil else { return }
        self.peripheral = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBMCentralManager, didConnect peripheral: any CBMPeripheral) {
        peripheral.discoverServices(nil)
    }

    func peripheral(_ peripheral: any CBMPeripheral, didDiscoverServices error: (any Error)?) {
        if let service = peripheral.services?.first { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverCharacteristicsFor service: CBMService, error: (any Error)?
    ) {
        characteristic = service.characteristics?.first
        if let characteristic { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateNotificationStateFor characteristic: CBMCharacteristic,
        error: (any Error)?
    ) {
        done.signal()
    }

    func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateValueFor characteristic: CBMCharacteristic, error: (any Error)?
    ) {
        precondition(error == nil && characteristic.value?.count == 20)
        toFinish -= 1
        if toStart > 0 {
            toStart -= 1
            next()
        }
        if toFinish <= 0 { done.signal() }
    }
}
