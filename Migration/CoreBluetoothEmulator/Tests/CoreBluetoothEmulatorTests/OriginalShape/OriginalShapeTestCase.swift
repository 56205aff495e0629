import CoreBluetooth
import XCTest

@testable import CoreBluetoothEmulator

/// Tests in the form of those of the library of this name.
///
/// A manager of each role is created first, the settings may change afterwards, and each step has 0.1 s of real time.
/// The tests run beside the main queue, on which delegates are called.
class OriginalShapeTestCase: XCTestCase {
    let bus = EmulatorBus.shared
    let centralRecorder = Recorder()
    let serverRecorder = Recorder()
    var central: EmulatedCBCentralManager!
    var server: EmulatedCBPeripheralManager!

    /// The settings under which the managers are created; nil for the default ones, whose state comes after 0.1 s.
    var firstConfiguration: EmulatorConfiguration? { .instant }

    override func setUp() async throws {
        await bus.reset()
        if let firstConfiguration { await bus.configure(firstConfiguration) }
        central = EmulatedCBCentralManager(delegate: centralRecorder, queue: nil)
        server = EmulatedCBPeripheralManager(delegate: serverRecorder, queue: nil)
        try await step()
    }

    override func tearDown() async throws {
        await bus.reset()
        (central, server) = (nil, nil)
    }

    func configure(_ change: (inout EmulatorConfiguration) -> Void) async {
        var configuration = EmulatorConfiguration.instant
        change(&configuration)
        await bus.configure(configuration)
    }

    func step(_ milliseconds: UInt64 = 100) async throws { try await Task.sleep(nanoseconds: milliseconds * 1_000_000) }

    /// Returns a record of the delegate, read on the main queue.
    func noted<Value>(_ recorder: Recorder, _ body: @escaping (Recorder) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            DispatchQueue.main.async { continuation.resume(returning: body(recorder)) }
        }
    }

    func found() async throws -> EmulatedCBPeripheral {
        let first = await noted(centralRecorder) { $0.discovered.first?.peripheral }
        return try XCTUnwrap(first, "nothing was discovered")
    }

    static let service = CBUUID(string: "1234")

    func makeCharacteristic(_ properties: CBCharacteristicProperties = .read) -> EmulatedCBMutableCharacteristic {
        EmulatedCBMutableCharacteristic(
            type: CBUUID(string: "5678"), properties: properties, value: nil,
            permissions: properties.contains(.write) ? [.readable, .writeable] : .readable)
    }

    func publish(_ characteristics: EmulatedCBMutableCharacteristic...) {
        let service = EmulatedCBMutableService(type: Self.service, primary: true)
        service.characteristics = characteristics
        server.add(service)
    }

    func advertise(_ more: [String: Any] = [:], name: String = "Device") {
        let data: [String: Any] = [
            CBAdvertisementDataLocalNameKey: name, CBAdvertisementDataServiceUUIDsKey: [Self.service],
        ]
        server.startAdvertising(data.merging(more) { $1 })
    }

    /// Advertises, scans and connects, in a step each.
    func connect() async throws -> EmulatedCBPeripheral {
        advertise()
        central.scanForPeripherals(withServices: nil)
        try await step()
        let peripheral = try await found()
        central.stopScan()
        peripheral.delegate = centralRecorder
        central.connect(peripheral)
        try await step()
        XCTAssertEqual(peripheral.state, .connected)
        return peripheral
    }

    /// Connects and discovers.
    func connectAndDiscover() async throws -> EmulatedCBPeripheral {
        let peripheral = try await connect()
        peripheral.discoverServices([Self.service])
        try await step()
        peripheral.discoverCharacteristics(nil, for: try XCTUnwrap(peripheral.services?.first))
        try await step()
        return peripheral
    }
}
