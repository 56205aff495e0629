import AsyncBluetooth
import BluetoothProfiles
import BluetoothSupport
import CoreBluetooth
import Synchronization
import Testing

extension AsyncScenario {
    private static let uuid = CBUUID(.served)

    static let serving = [
        AsyncScenario("a server's handlers respond to reads and writes", needsPeripheralRole: true) { c in
            let stored = Carrier(Data("hello".utf8))
            let server = try await c.serve([
                ServedCharacteristic(
                    CBUUID(.dynamic), [.read, .write], onRead: { _ in stored.value },
                    onWrite: { stored.value = $0.value })
            ])
            let one = try await c.connect(service: .served)
            try await one.perform(.read(.dynamic))
            try await one.expect(.read(.dynamic, Data("hello".utf8)))
            try await one.perform(.write(.dynamic, [1, 2]))
            try await one.expect(.wrote(.dynamic))
            #expect(stored.value == Data([1, 2]))
            withExtendedLifetime(server) {}
        },
        AsyncScenario("the other device receives the error that a server's handler throws", needsPeripheralRole: true) {
            c in
            let server = try await c.serve([
                ServedCharacteristic(
                    CBUUID(.dynamic), .read, onRead: { _ in throw CBATTError(.readNotPermitted) })
            ])
            let one = try await c.connect(service: .served)
            try await one.perform(.read(.dynamic))
            try await one.expect(.read(.dynamic).failing(response: .readNotPermitted))
            withExtendedLifetime(server) {}
        },
        AsyncScenario("a server's notifications arrive in order", needsPeripheralRole: true) { c in
            let server = try await c.serve([ServedCharacteristic(CBUUID(.updating), .notify)])
            let isHeard = c.start { for await _ in server.subscriptions { return } }
            let one = try await c.connect(service: .served)
            try await one.perform(.subscribe(.updating))
            try await one.expect(.subscribed(.updating, true))
            let id = CharacteristicID(.served, .updating)
            try await c.run {
                try await isHeard.value
                for number in UInt8(1)...3 { try await server.notify(Data([number]), of: id) }
            }
            try await one.expect(.notified(.updating, [1]), .notified(.updating, [2]), .notified(.updating, [3]))
        },
        AsyncScenario("a simulated device is found, read and notifies", needsPeripheralRole: true) { c in
            let device = SimulatedDevice(name: "Monitor", servers: [HeartRateServer()])
            try await c.run { [fixture = c.fixture] in try await device.start(on: fixture.backend) }
            let one = try await c.connect(service: .heartRate)
            try await one.perform(.read(.bodySensorLocation))
            try await one.expect(.read(.bodySensorLocation, [1]))
            try await one.perform(.subscribe(.heartRateMeasurement))
            try await one.expect(.subscribed(.heartRateMeasurement, true))
            let subject = ContractEvent.notified(.heartRateMeasurement, []).subject
            #expect(try await c.lines(3 + 1).last?.hasPrefix(subject) == true)
            device.stop()
        },
    ]
}

/// A value that handlers share with a scenario.
private final class Carrier: Sendable {
    private let state: Lock<Data>

    init(_ value: Data) { state = Lock(value) }

    var value: Data {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
