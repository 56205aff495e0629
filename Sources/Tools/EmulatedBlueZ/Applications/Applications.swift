#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

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
        let object: ClientObject
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
        let object: ClientObject
        let interface: String
    }

    /// A write of a central, in parts that the client answers one by one.
    struct Write: Sendable {
        var isAnswered: Bool
        var remaining: Int
        var code: UInt8 = 0
    }

    let adapter: Int
    /// The path of the adapter.
    let path: ObjectPath
    /// The applications, by their roots.
    var all: [ClientObject: Application] = [:]
    var characteristics: [AttributeID: Characteristic] = [:]
    /// The objects of all characteristics and descriptors.
    var served: [AttributeID: Served] = [:]
    /// The characteristics, by their objects.
    var objects: [ClientObject: AttributeID] = [:]
    /// The additions of services that the controller has not confirmed.
    var operations: [OperationID: (owner: ClientObject, service: AttributeID)] = [:]
    var subscribers: [PeerID: Subscriber] = [:]
    var writes: [RequestID: Write] = [:]
    private var lastAttribute: UInt32 = 0

    init(adapter: Int, _ path: ObjectPath) { (self.adapter, self.path) = (adapter, path) }

    /// The UUIDs of Generic Access, Generic Attribute and the applications' services, each with all 128 bits.
    var serviceUUIDs: [String] {
        let own = [BluetoothUUID(0x1800), BluetoothUUID(0x1801)]
        let served = all.values.flatMap(\.services).map(\.definition.uuid)
        return Set((own + served).map(\.bluez)).sorted()
    }

    mutating func nextAttribute() -> AttributeID {
        lastAttribute += 1
        return AttributeID(rawValue: lastAttribute)
    }
}

extension Applications {
    mutating func handle(_ call: ClientCall, _ context: inout DaemonContext) throws(DBusError) {
        let key = try call.namedObject()
        guard call.member == "RegisterApplication" else {
            guard all[key] != nil else { throw BlueZError.doesNotExist }
            withdraw(key, isReleased: true, &context)
            return context.answer(call.id)
        }
        guard all[key] == nil else { throw BlueZError.alreadyExists }
        let count = all.keys.count { $0.client == call.sender }
        guard count < DaemonLimits.applications else { throw BlueZError.notPermitted("Maximum applications reached") }
        all[key] = Application(call: call.id)
        context.output(.watch(client: call.sender))
        context.request(
            .application(adapter: adapter, key, call.id), of: key, StandardInterface.objectManager.name,
            "GetManagedObjects")
    }

    /// Adds the objects that a client listed to the adapter's services.
    mutating func objectsRead(
        _ key: ClientObject, _ result: Result<[DBusValue], DBusError>, for call: ClientCallID, isPowered: Bool,
        _ context: inout DaemonContext
    ) {
        guard all[key]?.call == call else { return }
        do throws(DBusError) {
            let description = try ApplicationDescription(try? result.get().first)
            add(description, key, isPowered: isPowered, &context)
        } catch {
            all[key] = nil
            context.refuse(call, error)
        }
    }

    private mutating func add(
        _ description: ApplicationDescription, _ key: ClientObject, isPowered: Bool, _ context: inout DaemonContext
    ) {
        var ids: [ObjectPath: AttributeID] = [:]
        all[key]?.profiles = description.profiles
        for service in description.services {
            let id = nextAttribute()
            ids[service.path] = id
            let definition = ServiceDefinition(
                id: id, uuid: service.uuid, isPrimary: service.isPrimary,
                included: service.includes.compactMap { ids[$0] },
                characteristics: service.characteristics.map { add($0, of: key.client) })
            all[key]?.services.append(Service(path: service.path, definition: definition))
            if isPowered { publish(definition, key, &context) }
        }
        showServices(&context)
        answerIfAdded(key, isPowered: isPowered, &context)
    }

    /// Updates the UUIDs of the adapter after its services have changed.
    private func showServices(_ context: inout DaemonContext) {
        context.set("UUIDs", .strings(serviceUUIDs), of: BlueZInterfaces.adapter, at: path)
    }

    private mutating func publish(
        _ definition: ServiceDefinition, _ key: ClientObject, _ context: inout DaemonContext
    ) {
        let operation = context.nextOperation()
        operations[operation] = (key, definition.id)
        context.output(.peripheral(adapter: adapter, .addService(operation: operation, service: definition)))
    }

    private mutating func add(
        _ described: ApplicationDescription.Characteristic, of client: String
    ) -> ServiceDefinition.Characteristic {
        let id = nextAttribute()
        let object = ClientObject(client: client, path: described.path)
        characteristics[id] = Characteristic(
            object: object, properties: described.flags.properties, acquiresNotify: described.acquiresNotify)
        served[id] = Served(object: object, interface: BlueZInterfaces.characteristic)
        objects[object] = id
        // BlueZ adds the configuration and the extended properties itself, before the client's descriptors.
        let own: Set<UInt16?> = [0x2902, 0x2900]
        let bits = described.flags.extendedProperties
        let extended =
            bits == 0
            ? []
            : [ServiceDefinition.Descriptor(id: nextAttribute(), uuid: BluetoothUUID(0x2900), value: Data([bits, 0]))]
        let descriptors = described.descriptors.filter { !own.contains($0.uuid.bits16) }.map { descriptor in
            let id = nextAttribute()
            let object = ClientObject(client: client, path: descriptor.path)
            served[id] = Served(object: object, interface: BlueZInterfaces.descriptor)
            return ServiceDefinition.Descriptor(
                id: id, uuid: descriptor.uuid, permissions: descriptor.flags.permissions)
        }
        return ServiceDefinition.Characteristic(
            id: id, uuid: described.uuid, properties: described.flags.properties,
            permissions: described.flags.permissions, descriptors: extended + descriptors)
    }

    // MARK: Events

    mutating func serviceAdded(
        _ operation: OperationID, _ error: BackendError?, isPowered: Bool, _ context: inout DaemonContext
    ) {
        guard let (key, id) = operations.removeValue(forKey: operation), let application = all[key],
            let position = application.services.firstIndex(where: { $0.definition.id == id })
        else { return }
        if error == nil {
            all[key]?.services[position].isPublished = true
            answerIfAdded(key, isPowered: isPowered, &context)
        } else if let call = application.call {
            all[key]?.call = nil
            withdraw(key, &context)
            context.refuse(call, BlueZError.failed("Failed to create entry in database"))
        }
    }

    /// Answers the registration of an application when the controller has all of its services; without power, at once.
    ///
    /// Source: BlueZ, `src/gatt-database.c`: the services enter the daemon's own database, which needs no power.
    private mutating func answerIfAdded(_ key: ClientObject, isPowered: Bool, _ context: inout DaemonContext) {
        guard let application = all[key], let call = application.call,
            !isPowered || application.services.allSatisfy(\.isPublished)
        else { return }
        all[key]?.call = nil
        context.answer(call)
    }

    /// Publishes the services that the controller does not have, after the power has returned.
    mutating func publish(_ context: inout DaemonContext) {
        let services = all.flatMap { key, application in
            application.services.filter { !$0.isPublished }.map { (key, $0.definition) }
        }
        for (key, definition) in services.sorted(by: { $0.1.id < $1.1.id }) { publish(definition, key, &context) }
    }

    /// Answers pending registrations when the power ends; unconfirmed services are published when it returns.
    mutating func powerEnded(_ context: inout DaemonContext) {
        operations = [:]
        for (key, application) in all where !application.services.isEmpty {
            answerIfAdded(key, isPowered: false, &context)
        }
    }

    // MARK: The end

    /// Withdraws an application that is unregistered, or whose client is gone.
    ///
    /// - Parameter isReleased: Whether the client is still connected and its profiles are released.
    private mutating func withdraw(_ key: ClientObject, isReleased: Bool = false, _ context: inout DaemonContext) {
        guard let application = all.removeValue(forKey: key) else { return }
        for service in application.services { remove(service, &context) }
        showServices(&context)
        for profile in isReleased ? application.profiles : [] {
            let object = ClientObject(client: key.client, path: profile)
            context.request(.ignored, of: object, ApplicationDescription.profileInterface, "Release")
        }
        if let call = application.call { context.refuse(call, BlueZError.failed("Application removed")) }
    }

    /// Removes a service with its attributes and their subscriptions, whose end the controller does not report.
    private mutating func remove(_ service: Service, _ context: inout DaemonContext) {
        let id = service.definition.id
        context.output(.peripheral(adapter: adapter, .removeService(id)))
        operations = operations.filter { $1.service != id }
        for characteristic in service.definition.characteristics {
            for id in [characteristic.id] + characteristic.descriptors.map(\.id) {
                served[id] = nil
            }
            guard let found = characteristics.removeValue(forKey: characteristic.id) else { continue }
            objects[found.object] = nil
            for central in found.subscribers { subscriptionEnded(characteristic.id, of: central) }
            for socket in found.sockets.values { context.close(socket) }
        }
    }

    mutating func forget(_ client: String, _ context: inout DaemonContext) {
        for key in all.keys where key.client == client { withdraw(key, &context) }
    }

    /// Withdraws the applications of an adapter that is gone, which clients learn from the removal of its object.
    mutating func withdrawAll(_ context: inout DaemonContext) {
        for key in all.keys { withdraw(key, isReleased: true, &context) }
    }

    /// Removes a service whose object the client withdrew.
    mutating func serviceRemoved(
        _ path: ObjectPath, _ key: ClientObject, isPowered: Bool, _ context: inout DaemonContext
    ) {
        let services = all[key]?.services ?? []
        guard let position = services.firstIndex(where: { $0.path == path }) else { return }
        all[key]?.services.remove(at: position)
        remove(services[position], &context)
        showServices(&context)
        answerIfAdded(key, isPowered: isPowered, &context)
    }
}
#endif
