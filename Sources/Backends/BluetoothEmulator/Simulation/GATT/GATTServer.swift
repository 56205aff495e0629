import BluetoothBackend
import BluetoothSupport
import BluetoothValues

/// The attributes that a device serves, and the timers that notify their values.
struct GATTServer: Sendable {
    private struct NotifyTimer: Sendable {
        let timer: CharacteristicDescription.Timer
        var position = 0
        var isRunning = false
    }

    /// The answer to a read or a write.
    enum Access: Sendable {
        case value(Data)
        case stored
        /// The value of the attribute is stored, and is notified to the writer.
        case echo(AttributeID, Data)
        case refused(ATTCode)
        case held
        /// The Client Characteristic Configuration of a characteristic, which each client has for itself.
        case clientConfiguration(AttributeID)
        /// The handler answers, or takes the value.
        case handler(PeripheralRequest)
        /// The manager that published the attribute answers, or takes the value.
        case manager(Attribute.Owner)
    }

    /// The source of answers to reads and writes that the permissions allow.
    enum Responder: Sendable {
        /// The stored values.
        case database
        case handler
        /// The managers that published dynamic values.
        case managers
    }

    let responder: Responder
    var database = AttributeDatabase()
    private var deviceName = AttributeID(rawValue: 0)
    /// The services that every device has: 1800 and 1801.
    private(set) var genericServices: [AttributeID] = []
    private var notifyTimers: [AttributeID: NotifyTimer] = [:]

    init(_ responder: Responder) { self.responder = responder }

    // MARK: Services

    mutating func addGenericServices(deviceName name: String) throws {
        let access = ServiceDescription(
            "1800", characteristics: [CharacteristicDescription("2A00", .read, value: Data(name.utf8))])
        let attribute = ServiceDescription("1801", characteristics: [CharacteristicDescription("2A05", .indicate)])
        let id = try database.add(access)
        deviceName = database[id]?.children.first ?? id
        genericServices = [id, try database.add(attribute)]
    }

    /// Adds a service and its timers.
    @discardableResult mutating func add(_ service: ServiceDescription, path: String) throws -> AttributeID {
        let id = try database.add(service, path: path)
        for (position, characteristic) in service.characteristics.enumerated() {
            guard let timer = characteristic.timer, let attribute = database[id]?.children[position] else { continue }
            notifyTimers[attribute] = NotifyTimer(timer: timer)
        }
        return id
    }

    /// Adds a service to a device that is on the air.
    mutating func addNew(_ service: ServiceDescription) throws -> ServiceRecord? {
        let id = try add(service, path: "service")
        return database.record(ofService: id)
    }

    /// Replaces all services by those of a host outside of the emulator, under their handles.
    ///
    /// The first characteristic 2A00 contains the name of the device, if there is one.
    ///
    /// - Returns: The removed services and their characteristics, and the added services.
    mutating func replaceServices(
        with services: [TappedService]
    ) -> (removed: [AttributeID], characteristics: [AttributeID], added: [ServiceRecord]) {
        let present = Dictionary(zip(database.tappedServices, database.services)) { first, _ in first }
        let kept = Set(services.compactMap { present[$0] })
        let removed = database.services.filter { !kept.contains($0) }
        let characteristics = removed.flatMap { remove($0) }
        let added = database.add(services, except: kept)
        genericServices = []
        if let name = database.characteristic(CharacteristicPath("2A00", service: "1800")) { deviceName = name }
        return (removed, characteristics, added.compactMap(database.record(ofService:)))
    }

    /// Publishes a service of a manager.
    mutating func publish(
        _ service: ServiceDefinition, by manager: Ref<Manager>, _ published: inout [AttributeID: AttributeID]
    ) throws(BackendError) -> ServiceRecord? {
        let id = try database.publish(service, by: manager, &published)
        return database.record(ofService: id)
    }

    /// Removes a service and everything in it.
    ///
    /// - Returns: The service's characteristics.
    mutating func remove(_ service: AttributeID) -> [AttributeID] {
        let removed = database[service]?.children ?? []
        database.remove(service)
        for attribute in removed { notifyTimers[attribute] = nil }
        return removed
    }

    // MARK: Access

    /// Serves a read, a write or a write command, unless the handler or a manager answers; mutates in place, because it
    /// runs for each of them.
    mutating func serve(_ answered: ATTTransaction, _ hosts: inout Hosts) -> Access {
        switch answered.operation.kind {
        case .request(.read(let attribute)): read(attribute, answered, &hosts)
        case .request(.write(let attribute, let value, let offset)):
            write(attribute, value, from: offset, needs: .write, answered, &hosts)
        case .writeCommand(let attribute, let value):
            write(attribute, value, from: 0, needs: .writeWithoutResponse, answered, &hosts)
        default: .refused(.requestNotSupported)
        }
    }

    private mutating func read(
        _ attribute: AttributeID, _ answered: ATTTransaction, _ hosts: inout Hosts
    ) -> Access {
        if let code = database.refusal(attribute, isWrite: false, on: answered.link.security) { return .refused(code) }
        if database[attribute]?.access.isHeld == true { return .held }
        if database[attribute]?.role == .clientConfiguration, let parent = database[attribute]?.parent {
            return .clientConfiguration(parent)
        }
        return delegate(attribute, answered, &hosts) ?? .value(database[attribute]?.value ?? Data())
    }

    private mutating func write(
        _ attribute: AttributeID, _ value: Data, from offset: UInt16, needs property: CharacteristicProperties,
        _ answered: ATTTransaction, _ hosts: inout Hosts
    ) -> Access {
        let refusal =
            database.refusal(attribute, isWrite: true, on: answered.link.security)
            ?? database.writeRefusal(attribute, count: value.count, from: offset, needs: property)
        if let refusal { return .refused(refusal) }
        if let access = delegate(attribute, answered, &hosts) { return access }
        return store(value, from: offset, in: attribute).map { .echo(attribute, $0) } ?? .stored
    }

    /// Returns the access that the handler or a manager answers; nil if the stored value counts.
    private mutating func delegate(
        _ attribute: AttributeID, _ answered: ATTTransaction, _ hosts: inout Hosts
    ) -> Access? {
        switch responder {
        case .database: return nil
        case .handler: return question(answered, &hosts).map(Access.handler) ?? .refused(.invalidHandle)
        case .managers:
            guard let owner = database[attribute]?.owner, owner.isDynamic else { return nil }
            return .manager(owner)
        }
    }

    /// Returns the question about a read or a write; nil if the attribute was removed, or for another operation.
    mutating func question(_ answered: ATTTransaction, _ hosts: inout Hosts) -> PeripheralRequest? {
        let (attribute, kind): (AttributeID, PeripheralRequest.Kind)
        switch answered.operation.kind {
        case .request(.read(let id)): (attribute, kind) = (id, .read)
        case .request(.write(let id, let value, let offset)):
            // The handler takes the value of the attribute after the write.
            (attribute, kind) = (id, .write(database.value(of: id, writing: value, from: offset)))
        case .writeCommand(let id, let value): (attribute, kind) = (id, .writeCommand(value))
        default: return nil
        }
        guard let role = database[attribute]?.role, let uuid = database[attribute]?.uuid,
            let parent = database[attribute]?.parent, let parentUUID = database[parent]?.uuid
        else { return nil }
        let isCharacteristic = role == .characteristic
        guard let service = isCharacteristic ? parent : database[parent]?.parent,
            let serviceUUID = database[service]?.uuid
        else { return nil }
        var request = PeripheralRequest(
            central: answered.link.centralIdentity(hosts), kind: kind, attribute: attribute,
            position: position(of: attribute), service: serviceUUID,
            characteristic: isCharacteristic ? uuid : parentUUID, descriptor: isCharacteristic ? nil : uuid)
        request.written = answered.operation.kind.written
        return request
    }

    /// Stores a written value.
    ///
    /// - Returns: The value, if it is sent back to the writer.
    mutating func store(_ bytes: Data, from offset: UInt16, in attribute: AttributeID) -> Data? {
        let value = database.value(of: attribute, writing: bytes, from: offset)
        database[attribute]?.value = value
        return database[attribute]?.access.isEcho == true ? value : nil
    }

    /// Stores the value of the characteristic with a path; returns nil if no characteristic has the path.
    mutating func store(_ value: Data, of path: CharacteristicPath) -> AttributeID? {
        guard let id = database.characteristic(path) else { return nil }
        database[id]?.value = value
        return id
    }

    /// Returns the service that a control removes; nil if the device does not have it.
    func service(of control: DeviceControl) -> AttributeID? {
        switch control {
        case .removeService(let uuid, let index): database.service(ServicePath(uuid, index: index))
        case .removeServiceNumber(let number): attribute(at: AttributePosition(service: number))
        default: nil
        }
    }

    /// The value of the GAP Device Name.
    var deviceNameValue: Data? {
        get { database[deviceName]?.value }
        set { if let newValue { database[deviceName]?.value = newValue } }
    }

    // MARK: Timers

    /// Returns the timer in the description of a characteristic.
    func notifyTimer(of attribute: AttributeID) -> CharacteristicDescription.Timer? { notifyTimers[attribute]?.timer }

    /// Starts the timer of a characteristic that has its first subscriber.
    ///
    /// - Returns: The timer's interval; nil if the characteristic has no timer, or the timer runs.
    mutating func startTimer(of attribute: AttributeID) -> Nanoseconds? {
        guard let timer = notifyTimers[attribute], !timer.isRunning else { return nil }
        notifyTimers[attribute]?.isRunning = true
        return timer.timer.interval.nanoseconds
    }

    /// Fires a timer, or stops it after the last subscription.
    ///
    /// - Returns: The value to notify, and the interval until the next one; nil without a timer or a subscription.
    mutating func timerFired(of attribute: AttributeID, isWanted: Bool) -> (value: Data, interval: Nanoseconds)? {
        guard let timer = notifyTimers[attribute] else { return nil }
        guard isWanted else {
            notifyTimers[attribute]?.isRunning = false
            return nil
        }
        let values = timer.timer.values
        if !values.isEmpty {
            database[attribute]?.value = values[timer.position % values.count]
            notifyTimers[attribute]?.position += 1
        }
        return (database[attribute]?.value ?? Data(), timer.timer.interval.nanoseconds)
    }
}
