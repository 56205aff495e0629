import AsyncBluetooth
import BluetoothProfiles
import BluetoothSupport
import CoreBluetooth
import Synchronization
import Testing

extension AsyncScenario {
    private static let uuid = CBUUID(contract: "C0DE1000")

    static let serving = [
        AsyncScenario("a server's handlers answer reads and take writes", needsPeripheralRole: true) { c in
            let kept = Carrier(Data("hello".utf8))
            let server = try await c.serve([
                ServedCharacteristic(
                    CBUUID(contract: "C0DE1001"), [.read, .write], onRead: { _ in kept.value },
                    onWrite: { kept.value = $0.value })
            ])
            let one = try await c.connect(service: "C0DE1000")
            try await one.perform(.read("C0DE1001"))
            try await one.expect("read C0DE1001 68656C6C6F")
            try await one.perform(.write("C0DE1001", Data([1, 2])))
            try await one.expect("wrote C0DE1001")
            #expect(kept.value == Data([1, 2]))
            withExtendedLifetime(server) {}
        },
        AsyncScenario("what a server's handler throws is what the other device gets", needsPeripheralRole: true) { c in
            let server = try await c.serve([
                ServedCharacteristic(
                    CBUUID(contract: "C0DE1001"), .read, onRead: { _ in throw CBATTError(.readNotPermitted) })
            ])
            let one = try await c.connect(service: "C0DE1000")
            try await one.perform(.read("C0DE1001"))
            try await one.expect("read C0DE1001 ! 2")
            withExtendedLifetime(server) {}
        },
        AsyncScenario("a server's notifications come in order", needsPeripheralRole: true) { c in
            let server = try await c.serve([ServedCharacteristic(CBUUID(contract: "C0DE1003"), .notify)])
            let isHeard = c.fixture.start { for await _ in server.subscriptions { return } }
            let one = try await c.connect(service: "C0DE1000")
            try await one.perform(.subscribe("C0DE1003"))
            try await one.expect("subscribed C0DE1003 true")
            let id = CharacteristicID(contract: "C0DE1000/C0DE1003")
            try await c.play {
                try await isHeard.value
                for number in UInt8(1)...3 { try await server.notify(Data([number]), of: id) }
            }
            try await one.expect("notified C0DE1003 01", "notified C0DE1003 02", "notified C0DE1003 03")
        },
        AsyncScenario("a simulated device is found, read and heard", needsPeripheralRole: true) { c in
            let device = SimulatedDevice(name: "Monitor", servers: [HeartRateServer()])
            try await c.play { [fixture = c.fixture] in try await device.start(on: fixture.backend) }
            let one = try await c.connect(service: "180D")
            try await one.perform(.read("2A38"))
            try await one.expect("read 2A38 01")
            try await one.perform(.subscribe("2A37"))
            try await one.expect("subscribed 2A37 true")
            #expect(try await c.lines(3 + 1).last?.hasPrefix("notified 2A37 ") == true)
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
