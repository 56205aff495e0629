import AsyncBluetooth
import CoreBluetoothClasses

/// An attribute of a device, as it was discovered.
protocol DiscoveredAttribute: Sendable {
    associatedtype ID: PathIdentifier
    var id: ID { get }
    var handle: UInt16? { get }
}

extension DiscoveredAttribute {
    var uuid: CBUUID { id.uuid }
}

struct DiscoveredService: DiscoveredAttribute {
    let id: ServiceID
    let isPrimary: Bool
    let handle: UInt16?
    let characteristics: [DiscoveredCharacteristic]
}

struct DiscoveredCharacteristic: DiscoveredAttribute {
    let id: CharacteristicID
    let properties: CBCharacteristicProperties
    let handle: UInt16?
}

struct DiscoveredDescriptor: DiscoveredAttribute {
    let id: DescriptorID
    let handle: UInt16?
}

extension CentralRole {
    /// Discovers the services, including those that others include, with their characteristics.
    ///
    /// - Returns: The services in the device's order.
    func discover(_ peripheral: Peripheral) async throws -> [DiscoveredService] {
        defer { console.clearProgress() }
        console.progress("Discovering services…")
        var ids = try await step("discovering services") { try await peripheral.services() }
        var services: [DiscoveredService] = []
        // The list grows as included services are found.
        while services.count < ids.count {
            let id = ids[services.count]
            let position = "\(services.count + 1)/\(ids.count)"
            console.progress("Discovering \(AttributeText.label(id.uuid))… \(position)")
            services.append(
                try await step("discovering characteristics") { try await Self.service(id, of: peripheral) })
            let included = try await step("discovering services") { try await peripheral.includedServices(of: id) }
            for id in included where !ids.contains(id) { ids.append(id) }
        }
        discovered[peripheral] = services
        return services
    }

    private static func service(_ id: ServiceID, of peripheral: Peripheral) async throws -> DiscoveredService {
        var characteristics: [DiscoveredCharacteristic] = []
        for found in try await peripheral.characteristics(of: id) {
            characteristics.append(
                DiscoveredCharacteristic(
                    id: found.id, properties: found.properties, handle: try await peripheral.handle(of: found.id)))
        }
        return DiscoveredService(
            id: id, isPrimary: try await peripheral.isPrimary(id), handle: try await peripheral.handle(of: id),
            characteristics: characteristics)
    }

    func descriptors(
        of characteristic: DiscoveredCharacteristic, at peripheral: Peripheral
    ) async throws -> [DiscoveredDescriptor] {
        try await step("discovering descriptors") {
            var descriptors: [DiscoveredDescriptor] = []
            for id in try await peripheral.descriptors(of: characteristic.id) {
                descriptors.append(DiscoveredDescriptor(id: id, handle: try await peripheral.handle(of: id)))
            }
            return descriptors
        }
    }

    /// Connects to the device of a query and finds the characteristic of a path.
    func locate(
        _ path: AttributePath, on query: DeviceQuery
    ) async throws -> (peripheral: Peripheral, characteristic: DiscoveredCharacteristic) {
        let peripheral = try await find(query)
        try await connect(peripheral)
        return (peripheral, try await locate(path, at: peripheral))
    }

    /// Finds the characteristic of a path at a connected device.
    func locate(_ path: AttributePath, at peripheral: Peripheral) async throws -> DiscoveredCharacteristic {
        var services = try await discover(peripheral)
        if let wanted = path.service { services = [try wanted.pick(from: services, kind: "service")] }
        return try path.characteristic.pick(from: services.flatMap(\.characteristics), kind: "characteristic")
    }

    func locate(
        _ query: AttributeQuery, of characteristic: DiscoveredCharacteristic, at peripheral: Peripheral
    ) async throws -> DiscoveredDescriptor {
        let descriptors = try await descriptors(of: characteristic, at: peripheral)
        return try query.pick(from: descriptors, kind: "descriptor", of: "the characteristic")
    }
}
