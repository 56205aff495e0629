import BluetoothBackend
package import BluetoothEmulator
import BluetoothSupport
import BluetoothValues

/// A device with its attributes, as in the answer to `GET /v1/devices/7`.
package struct DeviceDetails: Codable, Hashable, Sendable {
    package struct Parameter: Codable, Hashable, Sendable {
        package var name: String
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
        /// The bytes, in hexadecimal digits.
        package var value: String
        package var meaning: String?
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

    package var device: LiveDevice
    package var parameters: [Parameter]
    package var services: [Service]
    package var faults: [DeviceFault]

    init(_ device: LiveDevice, _ description: PeripheralDescription, _ attributes: DeviceAttributes) {
        self.device = device
        let known = (description.handler?.parameters ?? [:]).sorted { $0.key.rawValue < $1.key.rawValue }
        parameters = known.map { parameter, range in
            Parameter(
                name: parameter.rawValue, value: description.parameters[parameter], minimum: range.lowerBound,
                maximum: range.upperBound)
        }
        faults = description.faults
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
}

extension DeviceDetails.Characteristic {
    fileprivate init(
        _ found: TappedCharacteristic, in service: BluetoothUUID, index: Int, _ attributes: DeviceAttributes
    ) {
        let value = attributes.values[found.valueHandle] ?? Data()
        self.init(
            uuid: found.uuid.text, name: found.uuid.attributeName,
            service: service.text, index: index, handle: found.valueHandle, properties: found.properties.names,
            value: value.hexText, meaning: found.uuid.meaning(of: value),
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

extension BluetoothUUID {
    fileprivate var attributeName: String? {
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
        return try json(DeviceDetails(live, description, attributes))
    }
}
