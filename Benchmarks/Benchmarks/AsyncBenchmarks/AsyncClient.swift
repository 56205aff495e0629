import AsyncBluetooth
import BluetoothEmulator
import CoreBluetooth
import Foundation

/// A connection to a device without latency, through AsyncBluetooth.
struct AsyncClient: Sendable {
    let central: Central
    private static let path: CharacteristicID = "180D/2A37"
    private let peripheral: Peripheral
    private let device: EmulatedDevice

    init() async throws {
        let emulator = Emulator(configuration: .quiet)
        device = try emulator.add(LinkClient.description)
        central = Central(backend: .emulator(emulator))
        peripheral = try await Self.first(central)
        _ = try await peripheral.read(Self.path)
    }

    private static func first(_ central: Central) async throws -> Peripheral {
        for try await found in central.scan() { return found.peripheral }
        throw CancellationError()
    }

    func read(_ count: Int) async throws {
        for _ in 0..<count {
            let value = try await peripheral.read(Self.path)
            precondition(value.count == 20)
        }
    }

    func notify(_ count: Int, inFlight: Int) async throws {
        let values = try await peripheral.subscribe(to: Self.path)
        for _ in 0..<inFlight { device.notify(LinkClient.heartRate, value: LinkClient.value) }
        var received = 0
        for try await value in values {
            precondition(value.count == 20)
            received += 1
            if received == count { break }
            if received + inFlight <= count { device.notify(LinkClient.heartRate, value: LinkClient.value) }
        }
    }
}
