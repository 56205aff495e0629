import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth
import Dispatch
import Foundation

/// An app with one connection to a device without latency.
final class LinkClient: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: everything below is used only on `queue`, except for the constants.
    private static let service: BluetoothUUID = "180D"
    /// A constant, since a literal is parsed each time.
    static let heartRate: CharacteristicPath = "2A37"
    static let value = Data([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20])

    private let queue = DispatchQueue(label: "benchmark")
    private let device: EmulatedDevice
    private let done = DispatchSemaphore(value: 0)
    private var manager: CBCentralManager?
    private var peripheral: CBPeripheral?
    private var characteristic: CBCharacteristic?
    private var toStart = 0
    private var toFinish = 0
    private var next: () -> Void = {}

    /// The device, also for other clients.
    static let description = PeripheralDescription(
        name: "Device",
        advertising: [AdvertisingDescription(AdvertisingData(services: [service]), interval: .milliseconds(20))],
        services: [
            ServiceDescription(
                service,
                characteristics: [
                    CharacteristicDescription("2A37", [.read, .writeWithoutResponse, .notify], value: value)
                ])
        ])

    init(_ emulator: Emulator = Emulator(configuration: .quiet)) throws {
        device = try emulator.add(Self.description)
        super.init()
        manager = CBCentralManager(backend: .emulator(emulator), delegate: self, queue: queue)
        done.wait()
    }

    /// Creates a client of a device whose handler answers from outside the world.
    init(handler: some AsynchronousPeripheralHandler) throws {
        let emulator = Emulator(configuration: .quiet)
        device = try emulator.add(EmulatedPeripheral(Self.description, handler: handler))
        super.init()
        manager = CBCentralManager(backend: .emulator(emulator), delegate: self, queue: queue)
        done.wait()
    }

    // MARK: Work

    func read(count: Int, outstanding: Int) {
        run(count, outstanding) { [self] in
            if let characteristic { peripheral?.readValue(for: characteristic) }
        }
    }

    func notify(count: Int, outstanding: Int) {
        let device = device
        run(count, outstanding) { device.notify(Self.heartRate, value: Self.value) }
    }

    func write(count: Int) {
        queue.async { [self] in
            toStart = count
            toFinish = 1
            next = { [self] in writeMore() }
            next()
        }
        done.wait()
    }

    private func writeMore() {
        guard let peripheral, let characteristic else { return }
        while toStart > 0, peripheral.canSendWriteWithoutResponse {
            toStart -= 1
            peripheral.writeValue(Self.value, for: characteristic, type: .withoutResponse)
        }
        guard toStart == 0, toFinish == 1 else { return }
        // The response arrives after all writes before it.
        toFinish = 0
        next = {}
        peripheral.readValue(for: characteristic)
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

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard self.peripheral == nil else { return }
        self.peripheral = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(nil)
    }

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        if let service = peripheral.services?.first { peripheral.discoverCharacteristics(nil, for: service) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        characteristic = service.characteristics?.first
        if let characteristic { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        done.signal()
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        precondition(error == nil && characteristic.value?.count == 20)
        toFinish -= 1
        if toStart > 0 {
            toStart -= 1
            next()
        }
        if toFinish <= 0 { done.signal() }
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) { next() }
}

extension EmulatorConfiguration {
    /// The settings without latency and trace.
    static let quiet: EmulatorConfiguration = {
        var settings = EmulatorConfiguration.instant
        settings.traceLimit = 0
        return settings
    }()
}
