import BluetoothLocking
public import CoreBluetooth

/// Services.
extension PeripheralServer {
    /// Publishes a service.
    ///
    /// - Returns: Its name; numbered, if there are others of its UUID.
    /// - Throws: ``BluetoothError`` with the system's reason, as for a service that the system keeps for itself.
    @discardableResult
    public func add(_ service: ServedService) async throws -> ServiceID {
        let core = core
        let manager = manager
        return try await core.run(.publish, service.uuid.uuidString, on: manager) {
            try Self.check(service)
            let waiter = Waiter<Void>()
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

    /// CoreBluetooth traps for a value that is not read-only; here it is an error.
    private static func check(_ service: ServedService) throws {
        for characteristic in service.characteristics {
            guard let value = characteristic.value else { continue }
            guard value.count <= 512 else { throw Failure(.valueTooLong(length: value.count, maximum: 512)) }
            let others = characteristic.properties.subtracting(.read)
            guard others.isEmpty, characteristic.permissions.isSubset(of: [.readable, .readEncryptionRequired]) else {
                throw Failure(.notSupported(others))
            }
        }
    }

    /// Withdraws a service; nothing happens where there is none.
    ///
    /// While the adapter is switched off the service stays with the system, and is withdrawn as soon as there is power.
    public func remove(_ service: ServiceID) { core.transition(manager.value) { $0.remove(service) } }
}

/// Advertising.
extension PeripheralServer {
    /// Advertises until ``stopAdvertising()``, in place of what is advertised already.
    ///
    /// A call that is cancelled stops it. It goes on by itself after the adapter was switched off and on.
    ///
    /// - Parameters:
    ///   - name: The name to advertise; shortened where there is no room.
    ///   - services: The services to advertise.
    public func startAdvertising(name: String? = nil, services: [CBUUID] = []) async throws {
        let core = core
        let manager = manager
        return try await core.run(.advertise, on: manager) {
            let waiter = Waiter<Void>()
            try await core.whenReady(manager) { state in
                var data: [String: Any] = [CBAdvertisementDataServiceUUIDsKey: services]
                if let name { data[CBAdvertisementDataLocalNameKey] = name }
                state.startAdvertising(data, waiter)
            }
            try await waiter.value { core.transition(manager.value) { $0.stopAdvertising(of: waiter) } }
        }
    }

    /// Stops advertising; nothing happens where it does not.
    public func stopAdvertising() { core.transition(manager.value) { $0.stopAdvertising() } }

    /// Whether it advertises.
    public var isAdvertising: Bool { manager.value.isAdvertising }
}
