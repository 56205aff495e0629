import BluetoothEmulator
import CoreBluetooth
import CoreBluetoothTesting
import Testing

@testable import CoreBluetoothEmulator

/// A phone and a peripheral of one test, in virtual time.
@MainActor
final class VirtualWorld {
    static let service = CBUUID(string: "1234")

    let emulator = EmulatorBus.shared.emulator
    let app = Recorder()
    let server = Recorder()
    let served = EmulatedCBMutableCharacteristic(
        type: CBUUID(string: "5678"), properties: [.read, .write, .writeWithoutResponse, .notify], value: Data([1]),
        permissions: [.readable, .writeable])
    private(set) var manager: EmulatedCBPeripheralManager?
    private(set) var phone: EmulatedCBCentralManager?

    init(_ configuration: CoreBluetoothEmulator.EmulatorConfiguration = .instant) {
        CoreBluetoothEmulator.Emulator.configure(configuration)
    }

    /// Adds a service with one characteristic.
    @discardableResult
    func advertise(options: [String: Any]? = nil) async throws -> EmulatedCBPeripheralManager {
        let manager = EmulatedCBPeripheralManager(delegate: server, queue: nil, options: options)
        self.manager = manager
        try await emulator.runUntilIdle()
        let service = EmulatedCBMutableService(type: Self.service, primary: true)
        service.characteristics = [served]
        manager.add(service)
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: "Test", CBAdvertisementDataServiceUUIDsKey: [Self.service],
        ])
        try await emulator.runUntilIdle()
        return manager
    }

    /// Connects to the peripheral that is found first.
    @discardableResult
    func connect(options: [String: Any]? = nil) async throws -> EmulatedCBPeripheral {
        let phone = EmulatedCBCentralManager(delegate: app, queue: nil, options: options)
        self.phone = phone
        try await emulator.runUntilIdle()
        phone.scanForPeripherals(withServices: [Self.service])
        await emulator.expect(.didDiscover)
        phone.stopScan()
        let peripheral = try #require(app.discovered.last?.peripheral)
        peripheral.delegate = app
        phone.connect(peripheral)
        await emulator.expect(.didConnect)
        return peripheral
    }

    func releasePhone() { phone = nil }

    func releaseManager() { manager = nil }

    /// Returns the time until a callback arrives.
    func time(until callback: DelegateCallback, _ body: () -> Void) async -> Duration {
        let start = emulator.now
        body()
        await emulator.expect(callback)
        return emulator.now - start
    }
}
