#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import BluetoothBackend

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
        var advertisement: Advertisement
        var scanResponse: Advertisement?

        init(_ description: AdvertisingDescription) {
            self.description = description
            isEnabled = description.isEnabled
            advertisement = description.data.advertisement(isConnectable: description.isConnectable)
            scanResponse = description.scanResponse?.advertisement(isConnectable: nil)
        }
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

    var name: String
    var address: DeviceAddress
    let maximumMTU: Int
    let connectionInterval: Duration?
    let supervisionTimeout: Duration?
    var proximity: Proximity
    var rssi: Int?
    var sets: [AdvertisingSet]
    var database = AttributeDatabase()
    var behaviour: (any DeviceBehaviour)?
    var asynchronousHandler: (any AsynchronousPeripheralHandler)?
    /// The links that the device knows of.
    var links: [Ref<Link>] = []
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
        name = description.name
        address = description.effectiveAddress
        maximumMTU = description.maximumMTU
        connectionInterval = description.connectionInterval
        supervisionTimeout = description.supervisionTimeout
        proximity = description.proximity
        rssi = description.rssi
        sets = description.advertising.map(AdvertisingSet.init)
        behaviour = peripheral.makeBehaviour?()
        asynchronousHandler = peripheral.asynchronousHandler
        self.identities = identities
        delayRandom = SeededGenerator(seed: seed, stream: "advertising delay \(address)")
        rssiRandom = SeededGenerator(seed: seed, stream: "rssi \(address)")
        deviceName = AttributeID(rawValue: 0)
        try addGenericServices()
        for (index, service) in description.services.enumerated() {
            try addService(service, path: "services[\(index)]")
        }
    }

    private mutating func addGenericServices() throws {
        let access = ServiceDescription(
            BluetoothUUID(0x1800), characteristics: [CharacteristicDescription(BluetoothUUID(0x2A00), [.read], value: Data(name.utf8))])
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

    /// Whether a set is on the air at this moment.
    func isOnAir(_ index: Int) -> Bool {
        sets[index].isEnabled && isInRange && (links.isEmpty || sets[index].description.continuesWhileConnected)
    }
}

