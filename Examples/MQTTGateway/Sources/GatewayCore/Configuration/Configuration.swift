package import AsyncBluetooth
package import Foundation
package import Mosquitto

/// The content of a configuration file.
package struct Configuration: Sendable {
    /// The gateway's name in topics.
    package var gateway: String
    /// The broker, without the will.
    package var broker: BrokerSettings
    /// The first level or levels of all topics except those of discovery.
    package var baseTopic: String
    /// The first level of the topics that Home Assistant reads; nil publishes no discovery messages.
    package var discoveryPrefix: String?
    /// The settings of the messages that wait for the broker.
    package var queue: QueueSettings
    /// The port of the metrics on 127.0.0.1; nil for none.
    package var metricsPort: UInt16?
    /// The devices.
    package var devices: [DeviceConfiguration]
    /// The devices that only advertise.
    package var advertisements: [AdvertisementRule]

    /// The topics of the gateway.
    package var topics: Topics { Topics(base: baseTopic, gateway: gateway, discovery: discoveryPrefix) }
}

/// The settings of the queue in which messages wait for the broker.
package struct QueueSettings: Sendable {
    /// The SQLite file.
    package var file: String
    /// The number of messages that may wait; beyond it the oldest is dropped for a new one.
    package var rows: Int
    /// Whether a committed message survives a loss of power, besides the end of the process.
    package var survivesPowerLoss: Bool

    package init(file: String, rows: Int = 100_000, survivesPowerLoss: Bool = false) {
        self.file = file
        self.rows = rows
        self.survivesPowerLoss = survivesPowerLoss
    }
}

/// A device, its values and its commands.
package struct DeviceConfiguration: Sendable {
    /// The ways to find a device.
    package enum Selector: Sendable, CustomStringConvertible {
        case address(String)
        case identifier(UUID)
        case localName(String)

        package var description: String {
            switch self {
            case .address(let address): address
            case .identifier(let identifier): identifier.uuidString
            case .localName(let name): "\"\(name)\""
            }
        }
    }

    /// The device's name in topics.
    package var id: String
    /// The device's name for people.
    package var name: String
    package var selector: Selector
    package var values: [ValueConfiguration]
    package var commands: [CommandConfiguration]
}

/// A value of a characteristic.
package struct ValueConfiguration: Sendable {
    /// The sources of values.
    package enum Source: Hashable, Sendable {
        /// Notifications or indications of the characteristic.
        case notifications
        /// A read at each interval.
        case reads(every: Duration)
    }

    /// The value's name in topics.
    package var id: String
    /// The value's name for people.
    package var name: String
    package var characteristic: CharacteristicID
    package var source: Source
    package var format: ValueFormat
    /// Home Assistant's `unit_of_measurement`.
    package var unit: String?
    /// Home Assistant's `device_class`.
    package var deviceClass: String?
    /// Home Assistant's `state_class`.
    package var stateClass: String?
    /// The minimum time between two messages; values in between are dropped and counted.
    package var minimumInterval: Duration?
}

/// A characteristic that accepts commands.
package struct CommandConfiguration: Sendable {
    /// The payloads of a command, and the bytes that it writes.
    package enum Kind: Sendable {
        /// The payloads `ON` and `OFF`.
        case onOff(on: Data, off: Data)
        /// The payload `PRESS`.
        case press(Data)
        /// A number within a range.
        case number(ValueFormat, ClosedRange<Double>)
        /// Text with at most this number of bytes in UTF-8.
        case text(maximumLength: Int)
    }

    /// The command's name in topics.
    package var id: String
    /// The command's name for people.
    package var name: String
    package var characteristic: CharacteristicID
    package var kind: Kind
}

/// A mistake in a configuration file.
package struct ConfigurationError: Error, CustomStringConvertible {
    /// File, line and column, field and rule, as in `gateway.yaml:12:7: devices[0].address: …`.
    package var description: String
}
