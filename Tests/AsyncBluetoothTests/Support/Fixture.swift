import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Synchronization
import Testing

/// An emulated world and a client in it, in virtual time.
struct Fixture: Sendable {
    let emulator: Emulator

    /// Creates a fixture with the emulator of the running test.
    init() { self.init(Emulator.current) }

    init(_ emulator: Emulator) { self.emulator = emulator }

    func makeCentral() -> Central { Central(backend: .emulator(emulator)) }

    func makeServer() -> PeripheralServer { PeripheralServer(backend: .emulator(emulator)) }

    /// Runs `body` in virtual time, and the immediate consequences of its end.
    func run<Result: Sendable>(
        within limit: Duration = .seconds(600), _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let result = try await emulator.run(within: limit, body)
        // Objects that the body released, such as a subscription, end with the work that is due now.
        try await emulator.advance(by: .zero)
        return result
    }

    /// Returns the number of times that a command arrived.
    func count(of command: String) -> Int {
        emulator.trace.map(\.description).filter { $0.contains("< ") && $0.contains(command) }.count
    }

    /// Adds a device and finds it.
    func find(_ description: PeripheralDescription) async throws -> (EmulatedDevice, Peripheral) {
        let device = try emulator.add(description)
        let central = makeCentral()
        return (device, try await run { try await Self.first(central) })
    }

    /// Returns the first device that a scan finds.
    static func first(_ central: Central) async throws -> Peripheral {
        for try await found in central.scan() { return found.peripheral }
        throw CancellationError()
    }
}

/// A flag that is set once.
final class Flag: Sendable {
    private let value = Lock(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
}

/// A collection of values from any task.
final class Log<Value: Sendable>: Sendable {
    private let contents = Lock<[Value]>([])
    var values: [Value] { contents.withLock { $0 } }
    func append(_ value: Value) { contents.withLock { $0.append(value) } }
}

extension PeripheralDescription {
    /// A device with a value of each kind: read, write, notify; two characteristics with one UUID; a descriptor.
    static let gadget = PeripheralDescription(
        name: "Gadget",
        advertising: [AdvertisingDescription(AdvertisingData(localName: "Gadget", services: ["FFF0"]))],
        services: [
            ServiceDescription(
                "FFF0",
                characteristics: [
                    CharacteristicDescription(
                        "FFF1", [.read, .write, .notify], value: Data([1]), echo: true,
                        descriptors: [DescriptorDescription("2901", value: Data("first".utf8))]),
                    CharacteristicDescription("FFF2", [.writeWithoutResponse, .notify], value: Data()),
                    CharacteristicDescription("FFF3", .read, value: Data([3, 1])),
                    CharacteristicDescription("FFF3", .read, value: Data([3, 2])),
                ])
        ])
}
