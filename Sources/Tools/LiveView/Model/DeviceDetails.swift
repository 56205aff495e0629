import BluetoothBackend
package import BluetoothEmulator
import BluetoothSupport
import BluetoothValues

/// A device with its attributes, as in the answer to `GET /v1/devices/7`.
package struct DeviceDetails: Codable, Hashable, Sendable {
    package struct Parameter: Codable, Hashable, Sendable {
        package var name: String
        /// The name for people.
        package var title: String
        /// The unit; empty without one.
        package var unit: String
        /// Whether 0 is off and 1 is on.
        package var isSwitch: Bool
        /// The value; nil if it was not set.
        package var value: Double?
        package var minimum: Double
        package var maximum: Double
    }

    package struct Service: Codable, Hashable, Sendable {
        package var uuid: String
        package var name: String?
        package var handle: UInt16
        package var isPrimary: Bool
        package var characteristics: [Characteristic]
    }

    package struct Characteristic: Codable, Hashable, Sendable {
        package var uuid: String
        package var name: String?
        /// The service that a command must name.
        package var service: String
        /// The position among the characteristics with its UUID in services with that UUID.
        package var index: Int
        package var handle: UInt16
        package var properties: [String]
        /// The properties in words.
        package var propertyTexts: [String]
        /// The bytes, in hexadecimal digits.
        package var value: String
        package var meaning: String?
        package var editor: ValueEditor
        /// The number of links that subscribe to it.
        package var subscribers: Int
        package var descriptors: [Descriptor]
    }

    package struct Descriptor: Codable, Hashable, Sendable {
        package var uuid: String
        package var name: String?
        package var handle: UInt16
        package var value: String?
        package var meaning: String?
    }

    /// A host that shares keys with the device.
    package struct Bond: Codable, Hashable, Sendable {
        package var host: Int
        /// Whether the pairing was authenticated.
        package var isAuthenticated: Bool
    }

    package var device: LiveDevice
    package var parameters: [Parameter]
    package var services: [Service]
    package var faults: [DeviceFault]
    /// Each fault in words.
    package var faultTexts: [String]
    package var advertising: [AdvertisingDetails]
    package var bonds: [Bond]
    /// The way the device pairs, as the end of a sentence.
    package var pairing: String

    init(
        _ device: LiveDevice, _ description: PeripheralDescription, _ attributes: DeviceAttributes, bonds: [Bond]
    ) {
        self.device = device
        self.bonds = bonds
        parameters = Self.parameters(of: description)
        faults = description.faults
        faultTexts = description.faults.map { $0.words { $0.uuid.attributeName ?? $0.uuid.text } }
        advertising = description.advertising.map(AdvertisingDetails.init)
        let (capability, answer) = (description.pairing.capability.words, description.pairing.answer.words)
        pairing = "has \(capability), and its user \(answer) pairings"
        var seen: [String: Int] = [:]
        services = attributes.services.map { service in
            Service(
                uuid: service.uuid.text, name: service.uuid.attributeName,
                handle: service.handles.lowerBound, isPrimary: service.isPrimary,
                characteristics: service.characteristics.map { found in
                    let key = "\(service.uuid.text)/\(found.uuid.text)"
                    defer { seen[key, default: 0] += 1 }
                    return Characteristic(found, in: service.uuid, index: seen[key] ?? 0, attributes)
                })
        }
    }

    private static func parameters(of description: PeripheralDescription) -> [Parameter] {
        let known = (description.handler?.parameters ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }
        return known.map { parameter, range in
            let words = parameter.words
            let degrees = description.parameters[.fahrenheit] == 1 ? "°F" : "°C"
            return Parameter(
                name: parameter.rawValue, title: words.title, unit: parameter == .temperature ? degrees : words.unit,
                isSwitch: words.isSwitch, value: description.parameters[parameter], minimum: range.lowerBound,
                maximum: range.upperBound)
        }
    }
}

extension DeviceDetails.Characteristic {
    fileprivate init(
        _ found: TappedCharacteristic, in service: BluetoothUUID, index: Int, _ attributes: DeviceAttributes
    ) {
        let value = attributes.values[found.valueHandle] ?? Data()
        self.init(
            uuid: found.uuid.text, name: found.uuid.attributeName,
            service: service.text, index: index, handle: found.valueHandle, properties: found.properties.names,
            propertyTexts: found.properties.words, value: value.hexText, meaning: found.uuid.meaning(of: value),
            editor: attributes.type(of: found, value).editor(of: value),
            subscribers: attributes.subscriberCounts[found.valueHandle] ?? 0,
            descriptors: found.descriptors.map { descriptor in
                let value = attributes.values[descriptor.handle]
                return DeviceDetails.Descriptor(
                    uuid: descriptor.uuid.text, name: descriptor.uuid.attributeName,
                    handle: descriptor.handle, value: value?.hexText,
                    meaning: value.flatMap { descriptor.uuid.meaning(of: $0) })
            })
    }
}

extension DeviceAttributes {
    /// Returns the type in which a value of a characteristic is edited.
    func type(of characteristic: TappedCharacteristic, _ value: Data) -> ValueType {
        let format = characteristic.descriptors.first { $0.uuid == "2904" }.flatMap { values[$0.handle] }
        return ValueType(of: characteristic.uuid, value: value, format: format)
    }
}

extension BluetoothUUID {
    /// The assigned name, or that of a vendor.
    var attributeName: String? {
        bits16.flatMap(AssignedNumbers.attribute) ?? VendorNames.attribute(text)
    }

    fileprivate func meaning(of value: Data) -> String? { bits16.flatMap { StandardValues.meaning(of: value, of: $0) } }
}

extension LiveWorld {
    /// Returns the answer about a device.
    func details(of device: EmulatedDevice) async throws(LiveError) -> LiveAnswer {
        await observe()
        guard let live = liveDevice(device.number), let description = device.presentDescription,
            let attributes = device.attributes
        else { throw .notFound("device \(device.number)") }
        let bonds = emulator.hosts.flatMap { host in
            host.bonds.filter { $0.identityAddress.description == live.identityAddress }.map {
                DeviceDetails.Bond(host: host.index, isAuthenticated: $0.isAuthenticated)
            }
        }
        return try json(DeviceDetails(live, description, attributes, bonds: bonds))
    }
}
