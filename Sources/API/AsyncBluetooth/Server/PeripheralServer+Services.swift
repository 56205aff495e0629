import BluetoothSupport
public import CoreBluetooth

/// Services.
extension PeripheralServer {
    /// Publishes a service.
    ///
    /// - Returns: The service's name; numbered, if other services have its UUID.
    /// - Throws: ``BluetoothError`` with the system's reason, as for a service that the system reserves.
    @discardableResult
    public func add(_ service: ServedService) async throws -> ServiceID {
        let id = try await publish(service)
        core.onEvent?(.published([id]))
        return id
    }

    private func publish(_ service: ServedService) async throws -> ServiceID {
        try await core.run(.publish, service.uuid.uuidString, on: manager) { [core, manager] in
            try Self.check(service)
            let waiter = Waiter<Void>()
            let missing = core.withState { state in service.includes.filter { state.published.services[$0] == nil } }
            guard missing.isEmpty else { throw OperationFailure(.missingServices(missing.map(\.uuid))) }
            let object = Unchecked(service.object)
            let id = try await core.whenReady(manager) { $0.add(service, object.value, waiter) }
            do {
                try await waiter.value {}
            } catch {
                core.transition(manager.value) { $0.remove(id) }
                throw error
            }
            return id
        }
    }

    /// Checks that a fixed value is read-only; CoreBluetooth traps otherwise.
    private static func check(_ service: ServedService) throws {
        for characteristic in service.characteristics {
            guard let value = characteristic.value else { continue }
            guard value.count <= 512 else { throw OperationFailure(.valueTooLong(length: value.count, maximum: 512)) }
            let others = characteristic.properties.subtracting(.read)
            guard characteristic.properties == .read,
                characteristic.permissions.isSubset(of: [.readable, .readEncryptionRequired])
            else { throw OperationFailure(.notSupported(others.isEmpty ? .read : others)) }
        }
    }

    /// Withdraws a service; has no effect on a service that is not published.
    ///
    /// A service that is removed while the adapter is off is withdrawn when it is powered on.
    public func remove(_ service: ServiceID) { core.transition(manager.value) { $0.remove(service) } }
}

/// Advertising.
extension PeripheralServer {
    /// Advertises until ``stopAdvertising()``, in place of a present advertisement.
    ///
    /// Cancelling the call stops the advertisement. It resumes by itself after a power cycle of the adapter.
    ///
    /// - Parameters:
    ///   - name: The name to advertise, shortened if it does not fit.
    ///   - services: The services to advertise.
    public func startAdvertising(name: String? = nil, services: [CBUUID] = []) async throws {
        try await startAdvertising(name: name, services: services, manufacturerData: nil, serviceData: [:])
    }

    /// Starts advertising with additional data that Apple's dictionary cannot contain; for tools on Linux.
    ///
    /// - Parameters:
    ///   - manufacturerData: A company identifier, least significant byte first, and the company's data.
    ///   - serviceData: Data of services.
    package func startAdvertising(
        name: String?, services: [CBUUID], manufacturerData: Data?, serviceData: [CBUUID: Data]
    ) async throws {
        try await core.run(.advertise, on: manager) { [core, manager] in
            let waiter = Waiter<Void>()
            try await core.whenReady(manager) { state in
                var data = AdvertisedData()
                data.localName = name
                data.serviceUUIDs = services
                data.manufacturerData = manufacturerData
                data.serviceData = serviceData
                state.startAdvertising(data, waiter)
            }
            try await waiter.value { core.transition(manager.value) { $0.stopAdvertising(of: waiter) } }
            core.onEvent?(.advertising(services: services))
        }
    }

    /// Stops advertising; has no effect without an advertisement.
    public func stopAdvertising() { core.transition(manager.value) { $0.stopAdvertising() } }

    /// Stops advertising and withdraws all services; published channels stay.
    public func withdrawAll() { core.transition(manager.value) { $0.withdrawAll() } }

    /// Whether the server advertises.
    public var isAdvertising: Bool { manager.value.isAdvertising }
}

/// A server as a long-running service.
extension PeripheralServer {
    /// Publishes and advertises the server's ``ServedOffer`` until the task is cancelled.
    ///
    /// The signature is that of `Service` in swift-service-lifecycle, so `extension PeripheralServer: @retroactive
    /// Service {}` makes a server such a service. It waits for the adapter in every state, and publishes everything
    /// again after the adapter was reset or unplugged. A restored service with the same characteristics counts as
    /// published. When the task is cancelled, it stops advertising, withdraws its
    /// services, and returns. A server without an offer publishes nothing here, and waits for the cancellation.
    ///
    /// - Throws: ``BluetoothError`` if the system refuses a service or the advertisement; everything is withdrawn
    ///   first.
    public func run() async throws {
        var published: [ServiceID] = []
        var isAdvertised = false
        defer {
            if isAdvertised { stopAdvertising() }
            for service in published { remove(service) }
        }
        for await state in states {
            switch state {
            case .poweredOn:
                do {
                    let missing = (offer?.services ?? []).dropFirst(published.count)
                    for service in missing { published.append(try await takeOrPublish(service)) }
                    if !missing.isEmpty { core.onEvent?(.published(published)) }
                    if let offer, !isAdvertised {
                        try await startAdvertising(name: offer.name, services: offer.advertisedServices)
                        isAdvertised = true
                    }
                } catch is CancellationError {
                    return
                } catch let error as BluetoothError {
                    // The next state decides how to continue.
                    guard case .unavailable = error.reason else {
                        core.onEvent?(.failed(error))
                        throw error
                    }
                }
            case .poweredOff:
                // The services stay, and the advertisement resumes with the power.
                core.log.warning(.server, "Bluetooth is switched off: the server waits")
            case .unauthorized, .unsupported:
                core.log.warning(.server, "Bluetooth is \(state): the server waits")
                fallthrough
            default:
                // Services of before the change are lost; services that were published since are published again, too.
                for service in published { remove(service) }
                published = []
                isAdvertised = false
            }
        }
    }
}

extension PeripheralServer {
    /// Adopts a restored service for a service of the offer, or publishes the latter.
    private func takeOrPublish(_ service: ServedService) async throws -> ServiceID {
        guard let (id, characteristics) = core.transition(manager.value, { $0.takeRestored(service) }) else {
            return try await publish(service)
        }
        for characteristic in characteristics { core.startTask(of: characteristic, manager) }
        return id
    }
}

/// The services and the advertisement of ``PeripheralServer/run()``.
public struct ServedOffer: Sendable {
    /// The services.
    public var services: [ServedService]
    /// The name to advertise, shortened if it does not fit; nil for none.
    public var name: String?
    /// The services to advertise.
    public var advertisedServices: [CBUUID]

    /// Describes an offer.
    ///
    /// - Parameters:
    ///   - services: The services.
    ///   - name: The name to advertise; nil for none.
    ///   - advertisedServices: The services to advertise; nil for those of `services`.
    public init(services: [ServedService], name: String? = nil, advertisedServices: [CBUUID]? = nil) {
        self.services = services
        self.name = name
        self.advertisedServices = advertisedServices ?? services.map(\.uuid)
    }
}
