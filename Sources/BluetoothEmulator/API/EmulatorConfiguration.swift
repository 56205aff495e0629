import BluetoothValues

/// The behavior of an emulated world: delays, sizes, probabilities.
///
/// The presets have the meanings that the presets of other CoreBluetooth simulators have. Units are in the types:
/// every time is a `Duration`, lengths are in bytes, signal strengths in dBm, chances 0...1.
public struct EmulatorConfiguration: Hashable, Sendable {
    /// From the making of a manager to its first state.
    public var stateDelay: Duration = .milliseconds(100)
    /// From the connectable packet that answers a connect to the open link, without the MTU exchange.
    public var connectionDelay: Duration = .milliseconds(200)
    /// From the cancellation of a connection to its end, which takes a connection interval at least.
    public var disconnectionDelay: Duration = .milliseconds(100)
    /// From the start of a scan until packets are heard.
    public var scanDelay: Duration = .zero
    /// The time that a device takes for each discovery, besides the round trips.
    public var discoveryDelay: Duration = .zero
    /// The time that a device takes for each read, besides the round trips.
    public var readDelay: Duration = .zero
    /// The time that a device takes for each write and each change of a subscription, besides the round trips.
    public var writeDelay: Duration = .zero
    /// From a device's notification, while no other waits, until the value is ready for a connection event.
    public var notificationDelay: Duration = .zero
    /// The interval of connection events: one ATT round trip takes one.
    ///
    /// A device may have its own. Zero: no latency. The range of LE is 7.5 ms...4 s (Core Specification, Vol 6, Part
    /// B, 4.5.1).
    public var connectionInterval: Duration = .milliseconds(50)
    /// Without a sign of life for so long, a link is lost.
    ///
    /// A device may have its own. The range of LE is 100 ms...32 s.
    public var supervisionTimeout: Duration = .seconds(4)
    /// The largest ATT MTU that a host offers, 23...517 bytes; a link has the smaller of host's and device's.
    public var maximumMTU = 185
    /// How many write commands of one manager wait for transmission at most, per link; at least 1.
    public var transmitBuffer = 20
    /// From the open link until write commands may be sent; until then, `canSendWriteWithoutResponse` is false.
    ///
    /// At the end of it, `peripheralIsReady(toSendWriteWithoutResponse:)` is called. Some of Apple's systems behave so.
    public var writeReadinessDelay: Duration = .zero
    /// Whether `peripheralIsReady(toSendWriteWithoutResponse:)` and `peripheralManagerIsReady(toUpdateSubscribers:)`
    /// are also called when everything that was sent has left, not only when a full queue has room again.
    public var announcesSentBursts = true
    /// How many values a peripheral manager may have under way to one central; at least 1.
    public var notifyBuffer = 20
    /// How many peripheral managers of one host advertise at the same time; more are out of space.
    public var maximumAdvertisingSets = 4
    /// How many bytes a sink has room for on an L2CAP channel; at least 1.
    public var channelBuffer = 16_384
    /// The time that the users and the exchange of features take in a pairing, besides the round trips.
    public var pairingDelay: Duration = .milliseconds(500)
    /// Whether a host without a `CBPairingAgent` agrees to pairings, as a person at the system's dialog does.
    ///
    /// With `false` they are refused, as on a Linux system where no one is there to agree.
    public var agreesToPairing = true
    /// The number of bonds that a host stores.
    public var maximumBonds = 100
    /// The number of prepared writes of one central that a server queues, 0 or more; one more is refused with 0x09.
    ///
    /// A device may have its own. A long write takes one for each MTU - 5 bytes.
    public var prepareQueueLength = 64
    /// The physical layer of links.
    ///
    /// A device may have its own. BlueZ and Android begin with 1M and stay there unless an app asks for 2M, which phones
    /// of Apple choose by themselves. Without a connection interval, packets take no time.
    public var phy = PHY.le1M
    /// The longest payload of a data packet that a host offers, 27...251 bytes; a link has the smaller of host's and
    /// device's.
    ///
    /// It is less where two such packets do not fit into the connection interval. What is longer goes in several
    /// packets.
    public var maximumDataLength = 251
    /// The time of a connection event in which packets may go; nil is the whole interval.
    ///
    /// A device may have its own. One packet of each side always goes. A host with several links or a scan at work has
    /// less than the interval for each.
    public var connectionEventLength: Duration?
    /// How many packets go in one direction in one connection event at most; at least 1.
    ///
    /// A device may have its own. Fewer go where the event is shorter: see the page "Throughput".
    public var packetsPerConnectionEvent = 6
    /// RSSI varies by so many dBm in both directions.
    public var rssiDeviation = 5
    /// The chance that a scanner misses an advertising packet.
    public var advertisingLossRate = 0.0
    /// Whether advertising packets that overlap on a channel destroy each other.
    ///
    /// Then every device in range advertises while any host listens, which costs time with many devices. No preset
    /// switches it on. See the page "Airtime and collisions".
    public var advertisingCollides = false
    /// The chance that a packet of a link is lost and sent again with the next connection event.
    ///
    /// A device may have a greater one. Without a connection interval nothing is lost.
    public var packetLossRate = 0.0
    /// The chance that a connect fails with "connection failed".
    public var connectionFailureRate = 0.0
    /// The chance that a read is refused as not permitted, and a write likewise.
    public var operationErrorRate = 0.0
    /// The number of lines in ``Emulator/trace`` before the oldest are dropped.
    ///
    /// nil keeps 1,000 in virtual time and none in real time, where lines cost a good part of a read.
    public var traceLimit: Int?

    /// The settings of ``default``.
    public init() {}

    /// Plausible delays, no chance of failure.
    public static let `default` = EmulatorConfiguration()

    /// No latency; periods (advertising, timers, the supervision timeout) stay.
    public static let instant: EmulatorConfiguration = {
        var settings = EmulatorConfiguration()
        settings.stateDelay = .zero
        settings.connectionDelay = .zero
        settings.disconnectionDelay = .zero
        settings.connectionInterval = .zero
        settings.pairingDelay = .zero
        settings.rssiDeviation = 2
        return settings
    }()

    /// A weak signal and a busy adapter: long delays, the smallest MTU, small buffers.
    public static let slow: EmulatorConfiguration = {
        var settings = EmulatorConfiguration()
        settings.stateDelay = .milliseconds(500)
        settings.connectionDelay = .seconds(1)
        settings.disconnectionDelay = .milliseconds(500)
        settings.pairingDelay = .seconds(1)
        settings.connectionInterval = .milliseconds(200)
        settings.supervisionTimeout = .seconds(6)
        settings.maximumMTU = ATTLimits.minimumMTU
        settings.transmitBuffer = 5
        settings.writeReadinessDelay = .milliseconds(400)
        settings.notifyBuffer = 5
        settings.channelBuffer = 2_048
        settings.packetsPerConnectionEvent = 1
        settings.rssiDeviation = 10
        settings.advertisingLossRate = 0.5
        return settings
    }()

    /// Failures by chance: one connect in five, one read or write in ten.
    public static let unreliable: EmulatorConfiguration = {
        var settings = EmulatorConfiguration()
        settings.transmitBuffer = 10
        settings.writeReadinessDelay = .milliseconds(100)
        settings.notifyBuffer = 10
        settings.packetsPerConnectionEvent = 2
        settings.rssiDeviation = 15
        settings.advertisingLossRate = 0.2
        settings.connectionFailureRate = 0.2
        settings.operationErrorRate = 0.1
        return settings
    }()
}
