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

    enum ReadAccess: Sendable {
        case value(Data)
        case refused(ATTCode)
        case held
        /// The Client Characteristic Configuration of a characteristic, which each client has for itself.
        case clientConfiguration(AttributeID)
        case handler
        /// The manager that published the attribute answers.
        case manager
    }

    enum WriteAccess: Sendable {
        case stored
        /// The value is stored and notified to the writer.
        case echo
        case refused(ATTCode)
        /// The handler takes the value of the attribute after the write.
        case handler(Data)
        case manager
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
    private(set) var deviceName = AttributeID(rawValue: 0)
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

    /// Reads an attribute, unless the handler or a manager answers; mutates in place, because it runs for each read.
    mutating func read(_ attribute: AttributeID, on security: SecurityLevel) -> ReadAccess {
        if let code = database.refusal(attribute, isWrite: false, on: security) { return .refused(code) }
        if database[attribute]?.access.isHeld == true { return .held }
        if database[attribute]?.role == .clientConfiguration, let parent = database[attribute]?.parent {
            return .clientConfiguration(parent)
        }
        if responder == .handler { return .handler }
        if responder == .managers, database[attribute]?.owner?.isDynamic == true { return .manager }
        return .value(database[attribute]?.value ?? Data())
    }

    /// Writes an attribute, unless the handler or a manager takes the value; mutates in place, because it runs for each
    /// write.
    mutating func write(
        _ attribute: AttributeID, _ value: Data, from offset: UInt16 = 0, needs property: CharacteristicProperties,
        on security: SecurityLevel
    ) -> WriteAccess {
        if let code = database.refusal(attribute, isWrite: true, on: security) { return .refused(code) }
        if let code = database.writeRefusal(attribute, count: value.count, from: offset, needs: property) {
            return .refused(code)
        }
        if responder == .handler { return .handler(database.value(of: attribute, writing: value, from: offset)) }
        if responder == .managers, database[attribute]?.owner?.isDynamic == true { return .manager }
        if database[attribute]?.access.isEcho == true { return .echo }
        let stored = database.value(of: attribute, writing: value, from: offset)
        database[attribute]?.value = stored
        return .stored
    }

    /// Returns the request that a handler answers; nil if the attribute was removed.
    mutating func request(
        _ attribute: AttributeID, _ kind: PeripheralRequest.Kind, from central: CentralIdentity
    ) -> PeripheralRequest? {
        guard let role = database[attribute]?.role, let uuid = database[attribute]?.uuid,
            let parent = database[attribute]?.parent, let parentUUID = database[parent]?.uuid
        else { return nil }
        guard role != .characteristic else {
            return PeripheralRequest(
                central: central, kind: kind, attribute: attribute, position: position(of: attribute),
                service: parentUUID, characteristic: uuid)
        }
        guard let service = database[parent]?.parent, let serviceUUID = database[service]?.uuid else { return nil }
        return PeripheralRequest(
            central: central, kind: kind, attribute: attribute, position: position(of: attribute), service: serviceUUID,
            characteristic: parentUUID, descriptor: uuid)
    }

    /// Returns the request about an operation.
    mutating func request(
        _ attribute: AttributeID, _ kind: PeripheralRequest.Kind, _ operation: LinkOperation,
        from central: CentralIdentity
    ) -> PeripheralRequest? {
        var request = request(attribute, kind, from: central)
        request?.written = operation.kind.written
        return request
    }

    /// Returns the request about a write; its value is that of the attribute after the write.
    mutating func writeRequest(
        _ attribute: AttributeID, _ value: Data, from offset: UInt16, _ central: CentralIdentity
    ) -> PeripheralRequest? {
        let whole = database.value(of: attribute, writing: value, from: offset)
        return request(attribute, .write(whole), from: central)
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

    mutating func stopTimer(of attribute: AttributeID) { notifyTimers[attribute]?.isRunning = false }

    /// Fires a timer.
    ///
    /// - Returns: The value to notify, and the interval until the next; nil if the characteristic has no timer.
    mutating func timerFired(of attribute: AttributeID) -> (value: Data, interval: Nanoseconds)? {
        guard let timer = notifyTimers[attribute] else { return nil }
        let values = timer.timer.values
        if !values.isEmpty {
            database[attribute]?.value = values[timer.position % values.count]
            notifyTimers[attribute]?.position += 1
        }
        return (database[attribute]?.value ?? Data(), timer.timer.interval.nanoseconds)
    }
}
