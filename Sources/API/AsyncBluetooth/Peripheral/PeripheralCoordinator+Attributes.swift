import BluetoothSupport
import CoreBluetooth

/// The resolution of paths to CoreBluetooth's objects: connects and discovers missing objects, each once per link.
extension PeripheralCoordinator {
    func characteristic(_ id: CharacteristicID) async throws -> LinkScoped<CBCharacteristic> {
        let (object, hit) = withState { state in
            (state.object, state.link.flatMap { link in link.characteristics[id].map { LinkScoped($0, link.number) } })
        }
        if let hit, object.state == .connected { return hit }
        let all = try await characteristics(of: id.service)
        guard let found = id.component.pick(from: all.attribute) else {
            throw OperationFailure(.missingCharacteristics([id.uuid]))
        }
        withState { state in
            if state.link?.number == all.link { state.link?.characteristics[id] = found }
        }
        return LinkScoped(found, all.link)
    }

    func service(_ id: ServiceID) async throws -> LinkScoped<CBService> {
        let link = try await connectedLink()
        let call = PeripheralCall(.services) { $0.discoverServices([id.uuid]) }
        try await discover(.services(id.uuid), call, on: link)
        guard let found = id.component.pick(from: knownServices) else {
            throw OperationFailure(.missingServices([id.uuid]))
        }
        return LinkScoped(found, link)
    }

    func services() async throws -> LinkScoped<[CBService]> {
        let link = try await connectedLink()
        try await discover(.allServices, PeripheralCall(.services) { $0.discoverServices(nil) }, on: link)
        return LinkScoped(object.services ?? [], link)
    }

    func characteristics(of id: ServiceID) async throws -> LinkScoped<[CBCharacteristic]> {
        let service = try await service(id)
        let call = PeripheralCall(.characteristics, service.attribute) { $0.discoverCharacteristics(nil, for: $1) }
        try await discover(.attributes(call.key), call, on: service.link)
        return LinkScoped(service.attribute.characteristics ?? [], service.link)
    }

    /// The services that were found on this link, then those that are only included in others.
    var knownServices: [CBService] { (object.services ?? []) + withState { $0.link?.included ?? [] } }

    func includedServices(of id: ServiceID) async throws -> LinkScoped<[CBService]> {
        // Included services that are also listed come first in the numbers of equal UUIDs.
        _ = try await services()
        let service = try await service(id)
        let call = PeripheralCall(.includedServices, service.attribute) { $0.discoverIncludedServices(nil, for: $1) }
        try await discover(.attributes(call.key), call, on: service.link)
        let included = service.attribute.includedServices ?? []
        let known = Set(knownServices.map { ObjectIdentifier($0) })
        let new = included.filter { !known.contains(ObjectIdentifier($0)) }
        withState { state in
            if state.link?.number == service.link { state.link?.included += new }
        }
        return LinkScoped(included, service.link)
    }

    func descriptors(of id: CharacteristicID) async throws -> LinkScoped<[CBDescriptor]> {
        let characteristic = try await characteristic(id)
        let call = PeripheralCall(.descriptors, characteristic.attribute) { $0.discoverDescriptors(for: $1) }
        try await discover(.attributes(call.key), call, on: characteristic.link)
        return LinkScoped(characteristic.attribute.descriptors ?? [], characteristic.link)
    }

    func descriptor(_ id: DescriptorID) async throws -> LinkScoped<CBDescriptor> {
        let all = try await descriptors(of: id.characteristic)
        guard let found = id.component.pick(from: all.attribute) else {
            throw OperationFailure(.missingDescriptors([id.uuid]))
        }
        return LinkScoped(found, all.link)
    }

    /// Discovers attributes unless that was done; concurrent callers wait for the same discovery.
    private func discover(_ key: DiscoveryKey, _ call: PeripheralCall, on number: Int) async throws {
        try Task.checkCancellation()
        let waiter = Waiter<CallResult>()
        let isDone = transition { state -> Bool? in
            guard let link = state.link, link.number == number else { return nil }
            if link.discovered.contains(key) { return true }
            if case .services = key, link.discovered.contains(.allServices) { return true }
            state.link?.demands[key, default: []].append(waiter)
            if link.demands[key] == nil { state.enqueue(call, .discovery(key)) }
            return false
        }
        guard let isDone else { throw ended(number) }
        if isDone { return }
        let box = Unchecked(key)
        _ = try await waiter.value { withState { $0.link?.demands[box.value]?.removeAll { $0 === waiter } } }
    }
}

/// An attribute, or several, and the number of the link that they belong to.
struct LinkScoped<Attribute> {
    // Passed between threads; used only as CoreBluetooth allows.
    private let box: Unchecked<Attribute>
    let link: Int

    var attribute: Attribute { box.value }

    init(_ attribute: Attribute, _ link: Int) {
        box = Unchecked(attribute)
        self.link = link
    }
}
