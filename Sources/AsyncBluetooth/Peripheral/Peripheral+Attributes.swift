public import CoreBluetooth

/// A characteristic of a device, and its properties.
public struct CharacteristicInfo: Hashable, Sendable {
    /// Its path.
    public let id: CharacteristicID
    /// The operations that the device announces for it.
    public let properties: CBCharacteristicProperties
}

/// What the device has.
extension Peripheral {
    /// Its services, in the device's order.
    public func services() async throws -> [ServiceID] {
        try await run(.discover) { [core] in
            Self.numbered(try await core.services().attribute).map { ServiceID($0.uuid, number: $0.number) }
        }
    }

    /// The services that a service includes.
    ///
    /// One that is no service of its own, a secondary service, can be named on this link once this has found it.
    public func includedServices(of service: ServiceID) async throws -> [ServiceID] {
        try await run(.discover, service) { [core] in
            let included = try await core.includedServices(of: service).attribute
            let known = core.knownServices
            return included.map { one in
                let before = known.prefix { $0 !== one }.filter { $0.uuid == one.uuid }.count
                return ServiceID(one.uuid, number: before + 1)
            }
        }
    }

    /// Whether a service is a primary one, and not there only to be included in others.
    public func isPrimary(_ service: ServiceID) async throws -> Bool {
        try await run(.discover, service) { [core] in try await core.service(service).attribute.isPrimary }
    }

    /// A service's characteristics, in the device's order.
    public func characteristics(of service: ServiceID) async throws -> [CharacteristicInfo] {
        try await run(.discover, service) { [core] in
            let all = try await core.characteristics(of: service).attribute
            return zip(Self.numbered(all), all).map { step, characteristic in
                CharacteristicInfo(
                    id: CharacteristicID(step.uuid, number: step.number, in: service),
                    properties: characteristic.properties)
            }
        }
    }

    /// A characteristic's descriptors, in the device's order.
    public func descriptors(of characteristic: CharacteristicID) async throws -> [DescriptorID] {
        try await run(.discover, characteristic) { [core] in
            Self.numbered(try await core.descriptors(of: characteristic).attribute).map {
                DescriptorID($0.uuid, number: $0.number, of: characteristic)
            }
        }
    }

    /// The UUIDs, with a number for each of those that are equal.
    private static func numbered(_ attributes: [some CBAttribute]) -> [AttributeStep] {
        var counts: [CBUUID: Int] = [:]
        return attributes.map { attribute in
            counts[attribute.uuid, default: 0] += 1
            return AttributeStep(attribute.uuid, number: counts[attribute.uuid, default: 1])
        }
    }
}
