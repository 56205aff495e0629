#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import DequeModule

/// An application: the client that registered it, and its root.
struct ApplicationKey: Hashable, Sendable {
    let client: String
    let root: ObjectPath
}

/// The applications of an adapter, and what centrals do with them.
struct Applications: Sendable {
    struct Application: Sendable {
        /// The services, in the order in which they were added.
        var services: [Service] = []
        /// The services whose addition the controller has not confirmed.
        var adding: Set<OperationID> = []
        /// The call that waits for all of them.
        var call: ClientCallID?
    }

    struct Service: Sendable {
        let path: ObjectPath
        let definition: ServiceDefinition
    }

    struct Characteristic: Sendable {
        let owner: ApplicationKey
        let path: ObjectPath
        let properties: CharacteristicProperties
        let acquiresNotify: Bool
        /// The subscribers, in the order of their subscriptions.
        var subscribers: [PeerID] = []
        /// Whether the client was asked to notify by its property `Value`.
        var isStarted = false
        /// The sockets that the client gave, by central; before 5.69 one of them serves all.
        var sockets: [PeerID: ClientSocketID] = [:]
    }

    /// An object of a client that answers reads and writes.
    struct Served: Sendable {
        let owner: ApplicationKey
        let path: ObjectPath
        let interface: String
    }

    /// A central with subscriptions.
    struct Subscriber: Sendable {
        var mtu: Int
        var credits: Int
        var waiting = Deque<(attribute: AttributeID, value: Data)>()
        /// The values under way, oldest first, whether each is confirmed.
        var sent = Deque<AttributeID>()
    }

    /// A write of a central, in parts that the client answers one by one.
    struct Write: Sendable {
        var isAnswered: Bool
        var remaining: Int
        var code: UInt8 = 0
    }

    var all: [ApplicationKey: Application] = [:]
    var characteristics: [AttributeID: Characteristic] = [:]
    /// The objects of all characteristics and descriptors.
    var served: [AttributeID: Served] = [:]
    /// The characteristics by their clients and paths.
    var paths: [ApplicationObject: AttributeID] = [:]
    var operations: [OperationID: ApplicationKey] = [:]
    var subscribers: [PeerID: Subscriber] = [:]
    var writes: [RequestID: Write] = [:]
    var lastAttribute: UInt32 = 0

    mutating func nextAttribute() -> AttributeID {
        lastAttribute += 1
        return AttributeID(rawValue: lastAttribute)
    }
}

/// An object of a client.
struct ApplicationObject: Hashable, Sendable {
    let client: String
    let path: ObjectPath
}

extension BluetoothDaemon {
    mutating func handleApplicationCall(_ call: ClientCall, on index: Int) throws(DBusError) {
        guard let root = call.arguments.first?.pathValue else { throw BlueZError.invalidArguments }
        let key = ApplicationKey(client: call.sender, root: root)
        guard call.member == "RegisterApplication" else {
            guard adapters[index].applications.all[key] != nil else { throw BlueZError.doesNotExist }
            withdraw(key, on: index)
            return answer(call.id)
        }
        guard adapters[index].applications.all[key] == nil else { throw BlueZError.alreadyExists }
        let count = adapters[index].applications.all.keys.count { $0.client == call.sender }
        guard count < DaemonLimits.applications else { throw BlueZError.notPermitted("Maximum applications reached") }
        adapters[index].applications.all[key] = Applications.Application(call: call.id)
        output(.watch(client: call.sender))
        request(
            .application(adapter: index, key, call.id), of: call.sender, root,
            StandardInterface.objectManager.name, "GetManagedObjects", deadline: configuration.applicationDeadline)
    }

    /// A client listed its objects: they are added to the adapter's services.
    mutating func applicationRead(
        _ key: ApplicationKey, _ result: Result<[DBusValue], DBusError>, _ call: ClientCallID, on index: Int
    ) {
        guard adapters[index].applications.all[key]?.call == call else { return }
        do throws(DBusError) {
            let description = try ApplicationDescription(try? result.get().first)
            add(description, key, on: index)
        } catch {
            adapters[index].applications.all[key] = nil
            refuse(call, error)
        }
    }

    private mutating func add(_ description: ApplicationDescription, _ key: ApplicationKey, on index: Int) {
        var ids: [ObjectPath: AttributeID] = [:]
        for service in description.services {
            let id = adapters[index].applications.nextAttribute()
            ids[service.path] = id
            let definition = ServiceDefinition(
                id: id, uuid: service.uuid, isPrimary: service.isPrimary,
                included: service.includes.compactMap { ids[$0] },
                characteristics: service.characteristics.map { add($0, key, on: index) })
            adapters[index].applications.all[key]?.services.append(
                Applications.Service(path: service.path, definition: definition))
            let operation = nextOperation()
            adapters[index].applications.operations[operation] = key
            adapters[index].applications.all[key]?.adding.insert(operation)
            output(.peripheral(adapter: index, .addService(operation: operation, service: definition)))
        }
    }

    private mutating func add(
        _ described: ApplicationDescription.Characteristic, _ key: ApplicationKey, on index: Int
    ) -> ServiceDefinition.Characteristic {
        let id = adapters[index].applications.nextAttribute()
        adapters[index].applications.characteristics[id] = Applications.Characteristic(
            owner: key, path: described.path, properties: described.flags.properties,
            acquiresNotify: described.acquiresNotify)
        adapters[index].applications.served[id] = Applications.Served(
            owner: key, path: described.path, interface: BlueZInterfaces.characteristic)
        adapters[index].applications.paths[ApplicationObject(client: key.client, path: described.path)] = id
        // BlueZ adds the configuration and the extended properties itself.
        let own: Set<UInt16?> = [0x2902, 0x2900]
        let descriptors = described.descriptors.filter { !own.contains($0.uuid.bits16) }.map { descriptor in
            let id = adapters[index].applications.nextAttribute()
            adapters[index].applications.served[id] = Applications.Served(
                owner: key, path: descriptor.path, interface: BlueZInterfaces.descriptor)
            return ServiceDefinition.Descriptor(
                id: id, uuid: descriptor.uuid, permissions: descriptor.flags.permissions)
        }
        return ServiceDefinition.Characteristic(
            id: id, uuid: described.uuid, properties: described.flags.properties,
            permissions: described.flags.permissions, descriptors: descriptors)
    }

    // MARK: Events

    mutating func serviceAdded(_ operation: OperationID, _ error: BackendError?, on index: Int) {
        guard let key = adapters[index].applications.operations.removeValue(forKey: operation) else { return }
        adapters[index].applications.all[key]?.adding.remove(operation)
        guard let application = adapters[index].applications.all[key], let call = application.call else { return }
        if error != nil {
            adapters[index].applications.all[key]?.call = nil
            withdraw(key, on: index)
            refuse(call, BlueZError.failed("Failed to create entry in database"))
        } else if application.adding.isEmpty {
            adapters[index].applications.all[key]?.call = nil
            answer(call)
        }
    }

    // MARK: The end

    /// An application is unregistered, or its client is gone.
    private mutating func withdraw(_ key: ApplicationKey, on index: Int) {
        guard let application = adapters[index].applications.all.removeValue(forKey: key) else { return }
        for service in application.services { remove(service, key, on: index) }
        for operation in application.adding { adapters[index].applications.operations[operation] = nil }
        if let call = application.call { refuse(call, BlueZError.failed("Application removed")) }
    }

    /// A service goes, with its attributes and their subscriptions, of which the controller reports no end.
    private mutating func remove(_ service: Applications.Service, _ key: ApplicationKey, on index: Int) {
        output(.peripheral(adapter: index, .removeService(service.definition.id)))
        for characteristic in service.definition.characteristics {
            for id in [characteristic.id] + characteristic.descriptors.map(\.id) {
                adapters[index].applications.served[id] = nil
            }
            guard let found = adapters[index].applications.characteristics.removeValue(forKey: characteristic.id) else {
                continue
            }
            adapters[index].applications.paths[ApplicationObject(client: key.client, path: found.path)] = nil
            for central in found.subscribers { subscriptionEnded(characteristic.id, of: central, on: index) }
            for socket in found.sockets.values {
                sockets[socket] = nil
                output(.close(socket))
            }
        }
    }

    mutating func forgetApplications(of client: String, on index: Int) {
        for key in adapters[index].applications.all.keys where key.client == client { withdraw(key, on: index) }
    }

    /// The adapter is gone; the clients learn that from its object.
    mutating func withdrawApplications(on index: Int) {
        for key in adapters[index].applications.all.keys { withdraw(key, on: index) }
    }

    /// A client withdraws the object of a service: the service goes.
    mutating func serviceRemoved(_ path: ObjectPath, _ key: ApplicationKey) {
        for index in adapters.indices {
            let services = adapters[index].applications.all[key]?.services ?? []
            guard let position = services.firstIndex(where: { $0.path == path }) else { continue }
            adapters[index].applications.all[key]?.services.remove(at: position)
            remove(services[position], key, on: index)
        }
    }
}
#endif
