import BluetoothBackend
import BluetoothSupport

// Hosts, devices and their attributes as descriptions.
extension Host {
    /// Nil for a host that every world has, or that was created for a peripheral manager.
    var presentDescription: HostDescription? {
        guard !identity.isAnonymous else { return nil }
        var description = HostDescription(
            name: identity.name, isPowered: adapter.isPowered, authorization: adapter.authorization,
            addressRotation: identity.rotation, maximumMTU: adapter.maximumMTU,
            hci: identity.port)
        if HostIdentity(description, isAnonymous: false).address != identity.address {
            description.address = identity.address
        }
        return description == HostDescription(name: "default") ? nil : description
    }
}

extension Device {
    /// The description with later changes.
    var presentDescription: PeripheralDescription {
        var present = description
        if present.effectiveAddress != identity.identityAddress { present.address = identity.identityAddress }
        present.proximity = signal.proximity
        present.rssi = signal.rssi
        present.packetLossRate = signal.packetLossRate
        present.advertising = advertiser.sets.map { set in
            var description = set.description
            description.isEnabled = set.isEnabled
            return description
        }
        present.services = server.presentServices
        present.faults = faults.steps
        if faults.failingConnections > 0 {
            present.faults.insert(DeviceFault(.connect, .fail(), count: faults.failingConnections), at: 0)
        }
        // A handler in Swift has parameters that a description cannot have.
        if present.handler == nil { present.parameters = [:] }
        return present
    }
}

extension GATTServer {
    /// The services except those that every device has.
    fileprivate var presentServices: [ServiceDescription] {
        database.services.filter { !genericServices.contains($0) }.compactMap(presentDescription(ofService:))
    }

    private func presentDescription(ofService id: AttributeID) -> ServiceDescription? {
        guard let service = database[id], case .service(let isPrimary) = service.role else { return nil }
        return ServiceDescription(
            service.uuid, isPrimary: isPrimary, includes: service.included.compactMap(database.path(ofService:)),
            characteristics: service.children.compactMap(presentDescription(ofCharacteristic:)))
    }

    private func presentDescription(ofCharacteristic id: AttributeID) -> CharacteristicDescription? {
        guard let found = database[id] else { return nil }
        let children = found.children.compactMap { database[$0] }
        var description = CharacteristicDescription(
            found.uuid, found.access.properties, value: found.value, maximumLength: Int(found.access.maximumLength),
            timer: notifyTimer(of: id), echo: found.access.isEcho,
            descriptors: children.filter { $0.role == .descriptor }.map {
                DescriptorDescription($0.uuid, value: $0.value, permissions: $0.access.permissions)
            })
        if description.effectivePermissions != found.access.permissions {
            description.permissions = found.access.permissions
        }
        let hasConfiguration = children.contains { $0.role == .clientConfiguration }
        if description.hasClientConfiguration != hasConfiguration { description.clientConfiguration = hasConfiguration }
        return description
    }
}

extension AttributeDatabase {
    /// The stored values of characteristics and descriptors.
    var valuesByHandle: [UInt16: Data] {
        let valued = all.map(\.attribute).filter { $0.parent != nil && $0.role != .clientConfiguration }
        return Dictionary(valued.map { ($0.handle, $0.value) }) { $1 }
    }
}
