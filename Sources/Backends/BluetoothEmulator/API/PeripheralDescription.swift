public import BluetoothBackend
import BluetoothSupport
public import BluetoothValues

/// An emulated device as data: its advertising, its attribute database, and the behavior of its link.
///
/// Every device also has the services 1800 (with the name) and 1801.
public struct PeripheralDescription: Hashable, Sendable {
    /// The GAP Device Name, at most 248 bytes.
    public var name: String
    /// The address; nil derives a static random one from the name.
    public var address: DeviceAddress?
    /// The advertising sets.
    public var advertising: [AdvertisingDescription]
    /// The services, in handle order.
    public var services: [ServiceDescription]
    /// The distance to the hosts.
    public var proximity: Proximity
    /// The mean signal strength in dBm, -127...20; nil uses the proximity's.
    public var rssi: Int?
    /// The largest ATT MTU that the device offers, 23...517 bytes.
    public var maximumMTU: Int
    /// The link's connection interval; nil uses ``EmulatorConfiguration/connectionInterval``.
    public var connectionInterval: Duration?
    /// The number of connection events that the device may skip if it has nothing to send, 0...499.
    public var peripheralLatency: Int
    /// The link's supervision timeout; nil uses ``EmulatorConfiguration/supervisionTimeout``.
    public var supervisionTimeout: Duration?
    /// The physical layer of the device's links; nil uses ``EmulatorConfiguration/phy``.
    public var phy: PHY?
    /// The longest payload of a data packet that the device offers, 27...251 bytes.
    public var maximumDataLength: Int
    /// The part of a connection event in which packets may be sent, above 0; nil uses
    /// ``EmulatorConfiguration/connectionEventLength``.
    public var connectionEventLength: Duration?
    /// The maximum number of packets in one direction in one connection event, 1 or more; nil uses
    /// ``EmulatorConfiguration/packetsPerConnectionEvent``.
    public var packetsPerConnectionEvent: Int?
    /// The built-in handler; a handler that is given to ``EmulatedPeripheral`` takes precedence.
    public var handler: BuiltInHandler?
    /// The initial parameters of the handler.
    public var parameters: [DeviceParameter: Double]
    /// The pairing behavior.
    public var pairing: PairingDescription
    /// The L2CAP channels that the device listens for.
    public var channels: [ChannelDescription]
    /// The period after which the device changes to a new private address, 1 s or more; nil for a fixed address.
    public var addressRotation: Duration?
    /// The chance, 0...1, that a packet of the device's links is lost and sent again.
    public var packetLossRate: Double
    /// The maximum number of prepared writes of one central that the device queues, 0 or more; nil uses
    /// ``EmulatorConfiguration/prepareQueueLength``.
    public var prepareQueueLength: Int?
    /// The faults that are active from the beginning.
    public var faults: [DeviceFault]
    /// The recording that the device replays instead of a built-in handler; a handler given to ``EmulatedPeripheral``
    /// takes precedence.
    public var replay: RecordingReplay?

    /// Creates a description of a device.
    public init(
        name: String, address: DeviceAddress? = nil, advertising: [AdvertisingDescription] = [],
        services: [ServiceDescription] = [], proximity: Proximity = .near, rssi: Int? = nil,
        maximumMTU: Int = ATTLimits.maximumMTU,
        connectionInterval: Duration? = nil, supervisionTimeout: Duration? = nil,
        handler: BuiltInHandler? = nil, parameters: [DeviceParameter: Double] = [:],
        pairing: PairingDescription = PairingDescription(), channels: [ChannelDescription] = [],
        peripheralLatency: Int = 0, addressRotation: Duration? = nil, packetLossRate: Double = 0,
        prepareQueueLength: Int? = nil, faults: [DeviceFault] = [], phy: PHY? = nil, maximumDataLength: Int = 251,
        connectionEventLength: Duration? = nil, packetsPerConnectionEvent: Int? = nil,
        replay: RecordingReplay? = nil
    ) {
        self.name = name
        self.address = address
        self.advertising = advertising
        self.services = services
        self.proximity = proximity
        self.rssi = rssi
        self.maximumMTU = maximumMTU
        self.connectionInterval = connectionInterval
        self.supervisionTimeout = supervisionTimeout
        self.phy = phy
        self.maximumDataLength = maximumDataLength
        self.connectionEventLength = connectionEventLength
        self.packetsPerConnectionEvent = packetsPerConnectionEvent
        self.handler = handler
        self.parameters = parameters
        self.pairing = pairing
        self.channels = channels
        self.peripheralLatency = peripheralLatency
        self.addressRotation = addressRotation
        self.packetLossRate = packetLossRate
        self.prepareQueueLength = prepareQueueLength
        self.faults = faults
        self.replay = replay
    }

    /// The address, or the static random one that is derived from the name.
    public var effectiveAddress: DeviceAddress {
        address ?? Self.address(derivedFrom: name)
    }

    package static func address(derivedFrom name: String) -> DeviceAddress {
        var generator = SeededGenerator(seed: 0, stream: "address \(name)")
        // The two highest bits mark a random static address (Core Specification, Vol 6, Part B, 1.3.2.1).
        return DeviceAddress(bits: generator.next() | 0xC000_0000_0000)
    }

    /// Returns the same device under another name, which it also advertises, and at the address derived from that name.
    public func named(_ name: String) -> PeripheralDescription {
        var copy = self
        copy.name = name
        copy.address = nil
        for index in advertising.indices {
            if advertising[index].data.localName == self.name { copy.advertising[index].data.localName = name }
            if advertising[index].scanResponse?.localName == self.name {
                copy.advertising[index].scanResponse?.localName = name
            }
        }
        return copy
    }

    /// Checks the description.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    public func validate(path: String = "") throws(DescriptionError) { try checks(path: path).run() }
}

/// The connection parameters of a link.
///
/// Source: Core Specification, Vol 6, Part B, 4.5.
public struct ConnectionParameters: Hashable, Sendable {
    /// The time between connection events: 7.5 ms...4 s, or zero for no latency.
    public var interval: Duration
    /// The number of connection events that the device may skip if it has nothing to send, 0...499.
    public var peripheralLatency: Int
    /// The time without any packet from the other side after which the link is lost: 100 ms...32 s.
    public var supervisionTimeout: Duration

    /// Creates connection parameters.
    public init(interval: Duration, peripheralLatency: Int = 0, supervisionTimeout: Duration = .seconds(4)) {
        self.interval = interval
        self.peripheralLatency = peripheralLatency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Checks the ranges, and that the timeout is longer than twice the time that the device may skip.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    public func validate(path: String = "parameters") throws(DescriptionError) { try validate(prefix: path + ".") }

    func validate(prefix: String) throws(DescriptionError) {
        try require(
            interval == .zero || (.microseconds(7500) ... .seconds(4)).contains(interval), "\(prefix)interval",
            "the connection interval is 7.5 ms...4 s, or 0")
        try require(
            (0...499).contains(peripheralLatency), "\(prefix)peripheralLatency",
            "the latency is 0...499 connection events")
        try require(
            (.milliseconds(100) ... .seconds(32)).contains(supervisionTimeout), "\(prefix)supervisionTimeout",
            "the supervision timeout is 100 ms...32 s")
        try require(
            supervisionTimeout > interval * (1 + peripheralLatency) * 2, "\(prefix)supervisionTimeout",
            "it is longer than (1 + latency) times the interval, twice")
    }
}

/// The pairing behavior of an emulated device: its input and output capability, and the decisions of its user.
public struct PairingDescription: Hashable, Sendable {
    /// The answer of the device's user.
    public enum Answer: String, Hashable, Sendable, CaseIterable {
        /// The user agrees, and enters the number that the other side shows.
        case accept
        /// The user refuses.
        case reject
        /// The user never answers; the device also ignores known hosts that want encryption.
        case ignore
    }

    /// The input and output capability, which selects the pairing method together with the host's.
    ///
    /// Source: Core Specification, Vol 3, Part H, 2.3.5.1.
    public var capability: PairingCapability
    /// The number that the device shows, 0...999999; nil draws one for each pairing.
    public var passkey: Int?
    /// Whether keys can be exchanged out of band, such as by NFC, if the host's user has the data.
    public var hasOutOfBandData: Bool
    /// Whether the device refuses a pairing without authentication (Just Works).
    public var requiresAuthentication: Bool
    /// Whether the device stores the keys.
    public var isBondable: Bool
    /// The maximum number of hosts whose keys the device stores; at least 1.
    public var maximumBonds: Int
    /// The answer of the device's user.
    public var answer: Answer
    /// Whether the device asks for encryption as soon as a central connects.
    public var requestsSecurity: Bool

    /// Creates a pairing behavior; the default accepts without a question.
    public init(
        capability: PairingCapability = .noInputNoOutput, passkey: Int? = nil, hasOutOfBandData: Bool = false,
        requiresAuthentication: Bool = false, isBondable: Bool = true, maximumBonds: Int = 8,
        answer: Answer = .accept, requestsSecurity: Bool = false
    ) {
        self.capability = capability
        self.passkey = passkey
        self.hasOutOfBandData = hasOutOfBandData
        self.requiresAuthentication = requiresAuthentication
        self.isBondable = isBondable
        self.maximumBonds = maximumBonds
        self.answer = answer
        self.requestsSecurity = requestsSecurity
    }

    /// Checks the description.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    public func validate(path: String = "pairing") throws(DescriptionError) {
        try require(passkey.map((0...999_999).contains) ?? true, "\(path).passkey", "a passkey is 0...999999")
        try require(maximumBonds >= 1, "\(path).maximumBonds", "at least one bond is kept")
    }
}
