#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import DequeModule

/// The identity of an application: the client that registered it, and its root.
struct ApplicationKey: Hashable, Sendable {
    let client: String
    let root: ObjectPath
}

/// The applications of an adapter, with their subscribers and pending requests.
struct Applications: Sendable {
    struct Application: Sendable {
        /// The services, in the order in which they were added.
        var services: [Service] = []
        var profiles: [ObjectPath] = []
        /// The call that waits until all services are published.
        var call: ClientCallID?
    }

    struct Service: Sendable {
        let path: ObjectPath
        let definition: ServiceDefinition
        /// Whether the controller has confirmed the service.
        var isPublished = false
    }

    struct Characteristic: Sendable {
        let owner: ApplicationKey
        let path: ObjectPath
        let properties: CharacteristicProperties
        let acquiresNotify: Bool
        /// The subscribers, in the order of their subscriptions.
        var subscribers: [PeerID] = []
        /// Whether `StartNotify` was called, so that the client notifies by its property `Value`.
        var isStarted = false
        /// The sockets that the client gave, by central; before 5.69 a single one serves all centrals.
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
        /// The values that the controller has accepted and not yet sent, oldest first.
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
    /// The additions of services that the controller has not confirmed.
    var operations: [OperationID: (owner: ApplicationKey, service: AttributeID)] = [:]
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
            withdraw(key, isReleased: true, on: index)
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

    /// Adds the objects that a client listed to the adapter's services.
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
        adapters[index].applications.all[key]?.profiles = description.profiles
        for service in description.services {
            let id = adapters[index].applications.nextAttribute()
            ids[service.path] = id
            let definition = ServiceDefinition(
                id: id, uuid: service.uuid, isPrimary: service.isPrimary,
                included: service.includes.compactMap { ids[$0] },
                characteristics: service.characteristics.map { add($0, key, on: index) })
            adapters[index].applications.all[key]?.services.append(
                Applications.Service(path: service.path, definition: definition))
            if adapters[index].state.isPowered { publish(definition, key, on: index) }
        }
        showServices(of: index)
        answerIfAdded(key, on: index)
    }

    private mutating func publish(_ definition: ServiceDefinition, _ key: ApplicationKey, on index: Int) {
        let operation = nextOperation()
        adapters[index].applications.operations[operation] = (key, definition.id)
        output(.peripheral(adapter: index, .addService(operation: operation, service: definition)))
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
        // BlueZ adds the configuration and the extended properties itself, before the client's descriptors.
        let own: Set<UInt16?> = [0x2902, 0x2900]
        let bits = described.flags.extendedProperties
        let extended =
            bits == 0
            ? []
            : [
                ServiceDefinition.Descriptor(
                    id: adapters[index].applications.nextAttribute(), uuid: BluetoothUUID(0x2900),
                    value: Data([bits, 0]))
            ]
        let descriptors = described.descriptors.filter { !own.contains($0.uuid.bits16) }.map { descriptor in
            let id = adapters[index].applications.nextAttribute()
            adapters[index].applications.served[id] = Applications.Served(
                owner: key, path: descriptor.path, interface: BlueZInterfaces.descriptor)
            return ServiceDefinition.Descriptor(
                id: id, uuid: descriptor.uuid, permissions: descriptor.flags.permissions)
        }
        return ServiceDefinition.Characteristic(
            id: id, uuid: described.uuid, properties: described.flags.properties,
            permissions: described.flags.permissions, descriptors: extended + descriptors)
    }

    // MARK: Events

    mutating func serviceAdded(_ operation: OperationID, _ error: BackendError?, on index: Int) {
        guard let (key, id) = adapters[index].applications.operations.removeValue(forKey: operation),
            let application = adapters[index].applications.all[key],
            let position = application.services.firstIndex(where: { $0.definition.id == id })
        else { return }
        if error == nil {
            adapters[index].applications.all[key]?.services[position].isPublished = true
            answerIfAdded(key, on: index)
        } else if let call = application.call {
            adapters[index].applications.all[key]?.call = nil
            withdraw(key, on: index)
            refuse(call, BlueZError.failed("Failed to create entry in database"))
        }
    }

    /// Answers the registration of an application when the controller has all of its services; without power, at once.
    ///
    /// Source: BlueZ, `src/gatt-database.c`: the services enter the daemon's own database, which needs no power.
    private mutating func answerIfAdded(_ key: ApplicationKey, on index: Int) {
        guard let application = adapters[index].applications.all[key], let call = application.call,
            !adapters[index].state.isPowered || application.services.allSatisfy(\.isPublished)
        else { return }
        adapters[index].applications.all[key]?.call = nil
        answer(call)
    }

    /// Publishes the services that the controller does not have, after the power has returned.
    mutating func publishApplications(on index: Int) {
        let services = adapters[index].applications.all.flatMap { key, application in
            application.services.filter { !$0.isPublished }.map { (key, $0.definition) }
        }
        for (key, definition) in services.sorted(by: { $0.1.id < $1.1.id }) { publish(definition, key, on: index) }
    }

    /// Answers pending registrations when the power ends; unconfirmed services are published when it returns.
    mutating func answerApplications(on index: Int) {
        adapters[index].applications.operations = [:]
        for (key, application) in adapters[index].applications.all where !application.services.isEmpty {
            answerIfAdded(key, on: index)
        }
    }

    // MARK: The end

    /// Withdraws an application that is unregistered, or whose client is gone.
    ///
    /// - Parameter isReleased: Whether the client is still connected and its profiles are released.
    private mutating func withdraw(_ key: ApplicationKey, isReleased: Bool = false, on index: Int) {
        guard let application = adapters[index].applications.all.removeValue(forKey: key) else { return }
        for service in application.services { remove(service, key, on: index) }
        showServices(of: index)
        for profile in isReleased ? application.profiles : [] {
            request(
                .ignored, of: key.client, profile, ApplicationDescription.profileInterface, "Release",
                deadline: configuration.applicationDeadline)
        }
        if let call = application.call { refuse(call, BlueZError.failed("Application removed")) }
    }

    /// Removes a service with its attributes and their subscriptions, whose end the controller does not report.
    private mutating func remove(_ service: Applications.Service, _ key: ApplicationKey, on index: Int) {
        let id = service.definition.id
        output(.peripheral(adapter: index, .removeService(id)))
        adapters[index].applications.operations = adapters[index].applications.operations.filter { $1.service != id }
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

    /// Withdraws the applications of an adapter that is gone, which clients learn from the removal of its object.
    mutating func withdrawApplications(on index: Int) {
        for key in adapters[index].applications.all.keys { withdraw(key, isReleased: true, on: index) }
    }

    /// Removes a service whose object the client withdrew.
    mutating func serviceRemoved(_ path: ObjectPath, _ key: ApplicationKey) {
        for index in adapters.indices {
            let services = adapters[index].applications.all[key]?.services ?? []
            guard let position = services.firstIndex(where: { $0.path == path }) else { continue }
            adapters[index].applications.all[key]?.services.remove(at: position)
            remove(services[position], key, on: index)
            showServices(of: index)
            answerIfAdded(key, on: index)
        }
    }
}
#endif
