import CoreBluetooth
import XCTest

@testable import CoreBluetoothEmulator

/// Tests as users of the library of this name write them: real time, the main queue, short sleeps.
///
/// They run on the main actor, on which the delegates are called.
@MainActor
class RealTimeTestCase: XCTestCase {
    let central = Recorder()
    let server = Recorder()

    override func setUp() async throws {
        await EmulatorBus.shared.reset()
        await EmulatorBus.shared.configure(.instant)
    }

    override func tearDown() async throws { await EmulatorBus.shared.reset() }

    func configure(_ change: (inout EmulatorConfiguration) -> Void) async {
        var configuration = EmulatorConfiguration.instant
        change(&configuration)
        await EmulatorBus.shared.configure(configuration)
    }

    /// Waits for the time of a step.
    func step(_ milliseconds: UInt64 = 100) async throws {
        try await Task.sleep(nanoseconds: milliseconds * 1_000_000)
    }

    static let service = CBUUID(string: "1234")
    static let characteristic = CBUUID(string: "5678")

    /// Returns a manager that advertises a service with one characteristic.
    func advertise(
        _ characteristic: EmulatedCBMutableCharacteristic, name: String = "Test"
    ) async throws -> EmulatedCBPeripheralManager {
        let manager = EmulatedCBPeripheralManager(delegate: server, queue: nil)
        try await step()
        let service = EmulatedCBMutableService(type: Self.service, primary: true)
        service.characteristics = [characteristic]
        manager.add(service)
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: name, CBAdvertisementDataServiceUUIDsKey: [Self.service],
        ])
        try await step()
        return manager
    }

    /// Returns a central manager that is connected to the first peripheral it finds.
    func connect(options: [String: Any]? = nil) async throws -> (EmulatedCBCentralManager, EmulatedCBPeripheral) {
        let manager = EmulatedCBCentralManager(delegate: central, queue: nil, options: options)
        try await step()
        manager.scanForPeripherals(withServices: [Self.service])
        try await step()
        manager.stopScan()
        let peripheral = try XCTUnwrap(central.discovered.last?.peripheral)
        peripheral.delegate = central
        manager.connect(peripheral)
        try await step()
        XCTAssertEqual(peripheral.state, .connected)
        return (manager, peripheral)
    }

    func makeCharacteristic(
        _ properties: CBCharacteristicProperties = [.read, .write, .writeWithoutResponse, .notify],
        value: Data? = Data([1]), permissions: CBAttributePermissions = [.readable, .writeable]
    ) -> EmulatedCBMutableCharacteristic {
        EmulatedCBMutableCharacteristic(
            type: Self.characteristic, properties: properties, value: value, permissions: permissions)
    }
}
