#if Emulator
import BluetoothEmulator
import Dispatch
import Foundation
import Testing

@testable import CoreBluetoothClasses

/// An app in a separate world; it acts while time is paused.
final class EmulatedApp {
    let emulator: Emulator
    let recorder = CallbackRecorder()
    let manager: CBCentralManager
    /// The last retrieved peripheral, which its manager does not retain.
    private var peripheral: CBPeripheral?

    init(_ emulator: Emulator, backend: CBBackendSelection? = nil) async throws {
        self.emulator = emulator
        manager = CBCentralManager(
            backend: backend ?? .emulator(emulator), delegate: recorder, queue: DispatchQueue(label: "app"))
        try await advance(1)
    }

    func advance(_ seconds: Int) async throws { try await emulator.advance(by: .seconds(seconds)) }

    /// Returns the lines that a call leads to within some time.
    func lines(within seconds: Int = 1, _ call: () -> Void = {}) async throws -> [String] {
        let count = recorder.lines.count
        call()
        try await advance(seconds)
        return Array(recorder.lines.dropFirst(count))
    }

    func retrieve(_ identifier: UUID) throws -> CBPeripheral {
        let found = try #require(manager.retrievePeripherals(withIdentifiers: [identifier]).first)
        found.delegate = recorder
        peripheral = found
        return found
    }

    func retrieve(_ device: EmulatedDevice) async throws -> CBPeripheral {
        emulator.host.remember(device)
        try await advance(1)
        return try retrieve(try #require(device.identifier()).uuid)
    }

    /// Connects and discovers everything.
    func connect(_ peripheral: CBPeripheral) async throws -> [CBCharacteristic] {
        manager.connect(peripheral)
        try await advance(1)
        peripheral.discoverServices(nil)
        try await advance(1)
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
        try await advance(1)
        return peripheral.services?.flatMap { $0.characteristics ?? [] } ?? []
    }
}
#endif
