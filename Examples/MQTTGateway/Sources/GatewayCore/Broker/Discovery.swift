import Foundation
package import Mosquitto

/// The discovery messages of Home Assistant for the values and commands of a configuration.
///
/// Source: https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery
package enum Discovery {
    /// Returns all messages; none if discovery is off.
    package static func messages(for configuration: Configuration) throws -> [MQTTMessage] {
        let topics = configuration.topics
        return try configuration.devices.flatMap { device in
            let values = device.values.map { Entity($0, of: device, topics) }
            let commands = device.commands.map { Entity($0, of: device, topics) }
            return try messages(values + commands, of: device.id, topics)
        }
    }

    /// Returns the messages of values that a device advertises; none if discovery is off.
    package static func messages(
        for readings: [AdvertisedReading], _ device: String, _ rule: AdvertisementRule, _ topics: Topics
    ) throws -> [MQTTMessage] {
        try messages(readings.map { Entity($0, of: device, rule, topics) }, of: device, topics)
    }

    private static func messages(_ entities: [Entity], of device: String, _ topics: Topics) throws -> [MQTTMessage] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try entities.compactMap { entity in
            guard let topic = topics.discovery(entity.component, entity.object, of: device) else { return nil }
            return MQTTMessage(topic, try encoder.encode(entity.content), isRetained: true)
        }
    }

    /// A sensor, a switch, a button, a number or a text.
    private struct Entity {
        let component: String
        let object: String
        var content: Content

        init(_ value: ValueConfiguration, of device: DeviceConfiguration, _ topics: Topics) {
            component = "sensor"
            object = value.id
            content = Content(value.id, value.name, of: device, topics)
            content.stateTopic = topics.value(value.id, of: device.id)
            content.valueTemplate = "{{ value_json.value }}"
            content.unit = value.unit
            content.deviceClass = value.deviceClass
            content.stateClass = value.stateClass
        }

        /// Creates an entity; its value is unavailable if its device was not heard for two of the rule's intervals.
        init(_ reading: AdvertisedReading, of device: String, _ rule: AdvertisementRule, _ topics: Topics) {
            object = reading.id
            content = Content(reading.id, reading.name, of: device, rule, topics)
            content.stateTopic = topics.value(reading.id, of: device)
            content.unit = reading.unit
            content.deviceClass = reading.deviceClass
            content.stateClass = reading.stateClass
            let silence = Int(rule.repeatInterval.components.seconds) * 2 + 60
            switch reading.kind {
            case .state:
                component = "sensor"
                content.valueTemplate = "{{ value_json.value }}"
                content.expireAfter = silence
            case .flag:
                component = "binary_sensor"
                content.valueTemplate = "{{ 'ON' if value_json.value else 'OFF' }}"
                content.expireAfter = silence
            case .event(let types):
                component = "event"
                // "rotate left 3" is of the type "rotate left"; the whole value is an attribute.
                content.valueTemplate =
                    "{{ {'event_type': value_json.value.rstrip(' 0123456789'), 'value': value_json.value} | tojson }}"
                content.eventTypes = types
            }
        }

        init(_ command: CommandConfiguration, of device: DeviceConfiguration, _ topics: Topics) {
            object = command.id
            content = Content(command.id, command.name, of: device, topics)
            content.commandTopic = topics.command(command.id, of: device.id)
            switch command.kind {
            case .onOff:
                component = "switch"
                content.optimistic = true
            case .press: component = "button"
            case .text(let maximumLength):
                component = "text"
                content.max = Double(min(255, maximumLength))
            case .number(let format, let range):
                component = "number"
                content.min = range.lowerBound
                content.max = range.upperBound
                content.step = 1 / format.divisor
            }
        }
    }

    /// The content of a message, with Home Assistant's names of fields.
    private struct Content: Encodable {
        struct Availability: Encodable {
            var topic: String
        }

        struct Device: Encodable {
            var identifiers: [String]
            var name: String
        }

        struct Origin: Encodable {
            var name = "mqtt-gateway"
        }

        var name: String
        var uniqueID: String
        var availability: [Availability]
        var availabilityMode = "all"
        var device: Device
        var origin = Origin()
        var stateTopic: String?
        var valueTemplate: String?
        var unit: String?
        var deviceClass: String?
        var stateClass: String?
        var commandTopic: String?
        var optimistic: Bool?
        var min: Double?
        var max: Double?
        var step: Double?
        var expireAfter: Int?
        var eventTypes: [String]?

        enum CodingKeys: String, CodingKey {
            case name, availability, device, origin, optimistic, min, max, step
            case uniqueID = "unique_id"
            case availabilityMode = "availability_mode"
            case stateTopic = "state_topic"
            case valueTemplate = "value_template"
            case unit = "unit_of_measurement"
            case deviceClass = "device_class"
            case stateClass = "state_class"
            case commandTopic = "command_topic"
            case expireAfter = "expire_after"
            case eventTypes = "event_types"
        }

        /// Creates the content for a device that only advertises, and therefore has no status.
        init(_ object: String, _ name: String, of device: String, _ rule: AdvertisementRule, _ topics: Topics) {
            self.name = name
            let identifier = "\(topics.gateway)_\(device)"
            uniqueID = "\(identifier)_\(object)"
            availability = [Availability(topic: topics.status)]
            let key = device.dropFirst(rule.id.count + 1)
            self.device = Device(identifiers: [identifier], name: key.isEmpty ? rule.name : "\(rule.name) \(key)")
        }

        /// Creates the content for a device; it includes the gateway's status, whose last will covers the devices.
        init(_ object: String, _ name: String, of device: DeviceConfiguration, _ topics: Topics) {
            self.name = name
            let identifier = "\(topics.gateway)_\(device.id)"
            uniqueID = "\(identifier)_\(object)"
            availability = [Availability(topic: topics.status), Availability(topic: topics.status(of: device.id))]
            self.device = Device(identifiers: [identifier], name: device.name)
        }
    }
}
