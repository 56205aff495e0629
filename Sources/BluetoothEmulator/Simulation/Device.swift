import BluetoothBackend
import BluetoothSupport
import BluetoothValues

/// One device on the air.
struct Device: Sendable {
    /// One advertising set at work.
    struct AdvertisingSet: Sendable {
        var description: AdvertisingDescription
        var isEnabled: Bool
        /// Grows with each change of the data.
        var generation: UInt32 = 0
        /// A packet is scheduled.
        var isScheduled = false
        var lastPacket: Nanoseconds?
        /// By host: the scan epoch in which its scanners heard this data.
        var heard: [UInt64] = []
        let interval: Nanoseconds
        /// Counts how often it was switched on.
        var enabling: UInt32 = 0
        let isConnectable: Bool
        let isExtended: Bool
        var advertisement: Advertisement
        var scanResponse: Advertisement?
        /// Whose it is, if a manager's.
        var manager: Ref<Manager>?

        init(_ description: AdvertisingDescription) {
            self.description = description
            isEnabled = description.isEnabled
            enabling = isEnabled ? 1 : 0
            interval = description.interval.nanoseconds
            isConnectable = description.isConnectable
            isExtended = description.isExtended
            advertisement = description.data.advertisement(isConnectable: description.isConnectable)
            scanResponse = description.scanResponse?.advertisement(isConnectable: nil)
        }
    }

    /// A host's connect that waits for ``EmulatedDevice/resume()``.
    struct PausedConnect: Sendable {
        let host: Int
        let epoch: UInt32
    }

    /// A characteristic that notifies by timer.
    struct NotifyTimer: Sendable {
        let timer: CharacteristicDescription.Timer
        var position = 0
        var isRunning = false
    }

    /// A timer of the handler's.
    struct HandlerTimer: Sendable {
        let period: Duration?
        let generation: UInt32
        /// Of one that fires once.
        var token: WorldQueue.Token?
    }

    /// The host whose peripheral managers this is; nil for a described device.
    let host: Int?
    /// Whether it is what a host's managers publish.
    var belongsToHost: Bool { host != nil }
    /// Whether that host is on.
    var isOn = true
    var name: String
    var address: DeviceAddress
    /// The address by which those who have keys know it.
    var identityAddress: DeviceAddress
    var pairing = PairingDescription()
    /// By the address of the host.
    var bonds: [DeviceAddress: Bond] = [:]
    var channels: [ChannelDescription] = []
    let maximumMTU: Int
    let connectionInterval: Duration?
    let supervisionTimeout: Duration?
    var proximity: Proximity
    var rssi: Int?
    var latency = 0
    var packetLossRate = 0.0
    /// How many prepared writes of a central wait at most; nil takes the world's.
    var prepareQueueLength: Int?
    /// Takes a new private address so often.
    var addressRotation: Duration?
    var addressRandom: SeededGenerator
    var sets: [AdvertisingSet]
    var database = AttributeDatabase()
    var behaviour: (any DeviceBehaviour)?
    /// The built-in handler; nil if the device has its own or none.
    var builtInHandler: BuiltInHandler?
    var asynchronousHandler: (any AsynchronousPeripheralHandler)?
    /// The links that the device knows of.
    var links: [Ref<Link>] = []
    /// The steps that go wrong.
    var faults: [DeviceFault] = []
    /// The connects that a fault holds up.
    var pausedConnects: [PausedConnect] = []
    /// So many connects fail.
    var failingConnections = 0
    /// By host.
    var identities: [PeerID]
    var notifyTimers: [AttributeID: NotifyTimer] = [:]
    var handlerTimers: [Int: HandlerTimer] = [:]
    var lastTimerGeneration: UInt32 = 0
    var deviceName: AttributeID
    var delayRandom: SeededGenerator
    var rssiRandom: SeededGenerator

    /// Switches a device on.
    ///
    /// - Throws: ``DescriptionError`` naming field and rule.
    init(_ peripheral: EmulatedPeripheral, identities: [PeerID], seed: UInt64) throws {
        let description = peripheral.description
        host = nil
        name = description.name
        address = description.effectiveAddress
        identityAddress = address
        pairing = description.pairing
        channels = description.channels
        latency = description.peripheralLatency
        packetLossRate = description.packetLossRate
        faults = description.faults
        prepareQueueLength = description.prepareQueueLength
        addressRotation = description.addressRotation
        addressRandom = SeededGenerator(seed: seed, stream: "address \(address)")
        maximumMTU = description.maximumMTU
        connectionInterval = description.connectionInterval
        supervisionTimeout = description.supervisionTimeout
        proximity = description.proximity
        rssi = description.rssi
        sets = description.advertising.map(AdvertisingSet.init)
        behaviour = peripheral.makeBehaviour?()
        builtInHandler = peripheral.builtInHandler
        asynchronousHandler = peripheral.asynchronousHandler
        self.identities = identities
        delayRandom = SeededGenerator(seed: seed, stream: "advertising delay \(address)")
        rssiRandom = SeededGenerator(seed: seed, stream: "rssi \(address)")
        deviceName = AttributeID(rawValue: 0)
        try addGenericServices()
        for (index, service) in description.services.enumerated() {
            try addService(service, path: "services[\(index)]")
        }
        database.compact()
    }

    /// What the peripheral managers of a host are on the air.
    init(server host: Host, number: Int, identities: [PeerID], seed: UInt64) throws {
        self.host = number
        addressRandom = SeededGenerator(seed: seed, stream: "address \(host.address)")
        isOn = host.isOn
        name = host.name
        address = host.airAddress
        identityAddress = host.address
        maximumMTU = 517
        connectionInterval = nil
        supervisionTimeout = nil
        proximity = .near
        sets = []
        self.identities = identities
        delayRandom = SeededGenerator(seed: seed, stream: "advertising delay \(address)")
        rssiRandom = SeededGenerator(seed: seed, stream: "rssi \(address)")
        deviceName = AttributeID(rawValue: 0)
        try addGenericServices()
    }

    private mutating func addGenericServices() throws {
        let access = ServiceDescription(
            BluetoothUUID(0x1800),
            characteristics: [CharacteristicDescription(BluetoothUUID(0x2A00), [.read], value: Data(name.utf8))])
        let attribute = ServiceDescription(
            BluetoothUUID(0x1801), characteristics: [CharacteristicDescription(BluetoothUUID(0x2A05), [.indicate])])
        let id = try database.add(access)
        deviceName = database[id]?.children.first ?? id
        _ = try database.add(attribute)
    }

    /// Adds a service and the timers within.
    @discardableResult
    mutating func addService(_ service: ServiceDescription, path: String) throws -> AttributeID {
        let id = try database.add(service, path: path)
        for (position, characteristic) in service.characteristics.enumerated() {
            guard let timer = characteristic.timer, let attribute = database[id]?.children[position] else { continue }
            notifyTimers[attribute] = NotifyTimer(timer: timer)
        }
        return id
    }

    var meanRSSI: Int { rssi ?? proximity.rssi ?? 127 }

    var isInRange: Bool { proximity != .outOfRange }

    /// Whether its radio can be heard.
    var isPresent: Bool { isOn && isInRange }

    /// Whether a set is on the air at this moment.
    func isOnAir(_ index: Int) -> Bool {
        sets[index].isEnabled && isPresent && (links.isEmpty || sets[index].description.continuesWhileConnected)
    }

    // MARK: The server

    /// What a read leads to.
    enum ReadAccess: Sendable {
        case value(Data)
        case refused(ATTCode)
        case held
        case clientConfiguration
        case handler
        /// The manager that published it answers.
        case manager
    }

    /// What a write leads to.
    enum WriteAccess: Sendable {
        case stored
        /// To be stored and notified to the writer.
        case echo
        case refused(ATTCode)
        case handler
        case manager
    }

    private var hasHandler: Bool { behaviour != nil || asynchronousHandler != nil }

    /// Reads an attribute as far as the server can by itself.
    ///
    /// In place, as it is done for each read.
    mutating func read(_ attribute: AttributeID, on security: LinkSecurity) -> ReadAccess {
        if let code = database.refusal(
            attribute, .readable, .readEncryptionRequired, .readNotPermitted, on: security)
        {
            return .refused(code)
        }
        if database[attribute]?.isHeld == true { return .held }
        if database[attribute]?.role == .clientConfiguration { return .clientConfiguration }
        if hasHandler { return .handler }
        if host != nil, database[attribute]?.owner?.isDynamic == true { return .manager }
        return .value(database[attribute]?.value ?? Data())
    }

    /// Writes an attribute as far as the server can by itself.
    ///
    /// In place, as it is done for each write.
    mutating func write(
        _ attribute: AttributeID, _ value: Data, needs property: CharacteristicProperties, on security: LinkSecurity
    ) -> WriteAccess {
        if let code = database.refusal(
            attribute, .writeable, .writeEncryptionRequired, .writeNotPermitted, on: security)
        {
            return .refused(code)
        }
        if let code = database.writeRefusal(attribute, count: value.count, needs: property) { return .refused(code) }
        if hasHandler { return .handler }
        if host != nil, database[attribute]?.owner?.isDynamic == true { return .manager }
        if database[attribute]?.isEcho == true { return .echo }
        database[attribute]?.value = value
        return .stored
    }

    /// What a handler is asked; nil if the attribute is gone.
    mutating func request(
        _ attribute: AttributeID, _ kind: PeripheralRequest.Kind, from central: CentralIdentity
    ) -> PeripheralRequest? {
        guard let role = database[attribute]?.role, let uuid = database[attribute]?.uuid,
            let parent = database[attribute]?.parent, let parentUUID = database[parent]?.uuid
        else { return nil }
        guard role != .characteristic else {
            return PeripheralRequest(
                central: central, kind: kind, attribute: attribute, service: parentUUID, characteristic: uuid)
        }
        guard let service = database[parent]?.parent, let serviceUUID = database[service]?.uuid else { return nil }
        return PeripheralRequest(
            central: central, kind: kind, attribute: attribute, service: serviceUUID, characteristic: parentUUID,
            descriptor: uuid)
    }
}
