import AsyncBluetooth
import BluetoothEmulator
import BluetoothSupport
import BluetoothValues
import CoreBluetooth
import Foundation

/// A device that notifies a number each second, each greater than the one before, also on the next link.
enum NumberSensor {
    static let value: CharacteristicID = "FFF0/FFF1"
    static let service = CBUUID(string: "FFF0")

    /// A described device, so that its twin does the same.
    static let description = PeripheralDescription(
        name: "Sensor",
        advertising: [AdvertisingDescription(AdvertisingData(localName: "Sensor", services: ["FFF0"]))],
        services: [
            ServiceDescription(
                "FFF0",
                characteristics: [
                    CharacteristicDescription(
                        "FFF1", [.read, .notify],
                        timer: CharacteristicDescription.Timer(every: .seconds(1), values: (1...2000).map(encode)))
                ])
        ])

    static let world: WorldDescription = {
        var world = WorldDescription(devices: [description])
        world.seed = 1
        return world
    }()

    private static func encode(_ number: Int) -> Data {
        let (high, low) = (UInt8(number >> 8), UInt8(number & 0xFF))
        return Data([high, low, ~high, ~low])
    }

    /// Returns the number in a value; nil if the value is malformed.
    static func decode(_ value: Data) -> Int? {
        let bytes = [UInt8](value)
        guard bytes.count == 4, bytes[2] == ~bytes[0], bytes[3] == ~bytes[1] else { return nil }
        return Int(bytes[0]) << 8 | Int(bytes[1])
    }
}

/// The numbers that an app received, and the rules that they broke.
final class ReceivedNumbers: Sendable {
    private struct State {
        /// The last number of each device: a twin counts on its own.
        var last: [UUID: Int] = [:]
        var time = Duration.zero
        var disorder: [String] = []
    }

    private let state = Lock(State())

    /// Records a device's value at a time; malformed ones have no number.
    func receive(_ value: Data, from device: Peripheral, at time: Duration) {
        guard let number = NumberSensor.decode(value) else { return }
        state.withLock { state in
            let last = state.last.updateValue(number, forKey: device.identifier) ?? 0
            if number <= last { state.disorder.append("\(number) after \(last)") }
            state.time = time
        }
    }

    /// The time of the last number.
    var time: Duration { state.withLock { $0.time } }
    /// The numbers that came after a greater one, or twice.
    var disorder: [String] { state.withLock { $0.disorder } }
}
