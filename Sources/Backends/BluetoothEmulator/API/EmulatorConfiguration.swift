import BluetoothValues

/// The behavior of an emulated world: delays, sizes, probabilities.
///
/// The presets correspond to those of other CoreBluetooth simulators. All times are `Duration`s; lengths are in bytes,
/// signal strengths in dBm, chances 0...1.
public struct EmulatorConfiguration: Hashable, Sendable {
    /// The time from the creation of a manager to its first state.
    public var stateDelay: Duration = .milliseconds(100)
    /// The time from the connectable packet that answers a connect to the open link, without the MTU exchange.
    public var connectionDelay: Duration = .milliseconds(200)
    /// The time from the cancellation of a connection to its end, at least one connection interval.
    public var disconnectionDelay: Duration = .milliseconds(100)
    /// The time from the start of a scan until packets are received.
    public var scanDelay: Duration = .zero
    /// The time that a device takes for each discovery, in addition to the round trips.
    public var discoveryDelay: Duration = .zero
    /// The time that a device takes for each read, in addition to the round trips.
    public var readDelay: Duration = .zero
    /// The time that a device takes for each write and each change of a subscription, in addition to the round trips.
    public var writeDelay: Duration = .zero
    /// The time from a device's notification, if no other waits, until the value is ready for a connection event.
    public var notificationDelay: Duration = .zero
    /// The interval of connection events; an ATT round trip takes one interval.
    ///
    /// A device may override it. Zero means no latency. The range of LE is 7.5 ms...4 s (Core Specification, Vol 6,
    /// Part B, 4.5.1).
    public var connectionInterval: Duration = .milliseconds(50)
    /// The time without any packet from the other side after which a link is lost.
    ///
    /// A device may override it. The range of LE is 100 ms...32 s.
    public var supervisionTimeout: Duration = .seconds(4)
    /// The largest ATT MTU that a host offers, 23...517 bytes; a link uses the smaller of the host's and the device's.
    public var maximumMTU = 185
    /// The maximum number of write commands of one manager that wait for transmission, per link; at least 1.
    public var transmitBuffer = 20
    /// The time from the open link until write commands may be sent; until then, `canSendWriteWithoutResponse` is
    /// false.
    ///
    /// At its end, `peripheralIsReady(toSendWriteWithoutResponse:)` is called. Some of Apple's systems do this.
    public var writeReadinessDelay: Duration = .zero
    /// Whether `peripheralIsReady(toSendWriteWithoutResponse:)` and `peripheralManagerIsReady(toUpdateSubscribers:)`
    /// are also called when everything that was sent has left, not only when a full queue has room again.
    public var announcesSentBursts = true
    /// The maximum number of values from one peripheral manager that wait for transmission to one central; at least 1.
    public var notifyBuffer = 20
    /// The maximum number of peripheral managers of one host that advertise at the same time; others fail as out of
    /// space.
    public var maximumAdvertisingSets = 4
    /// The number of bytes that a sink has room for on an L2CAP channel; at least 1.
    public var channelBuffer = 16_384
    /// The time that the users and the exchange of features take in a pairing, in addition to the round trips.
    public var pairingDelay: Duration = .milliseconds(500)
    /// Whether a host without a `CBPairingAgent` agrees to pairings, as a user does in the system's dialog.
    ///
    /// If false, pairings are refused, as on a Linux system without a user who agrees.
    public var agreesToPairing = true
    /// The maximum number of bonds that a host stores.
    public var maximumBonds = 100
    /// The maximum number of prepared writes of one central that a server queues, 0 or more; the next is refused with
    /// 0x09.
    ///
    /// A device may override it. A long write takes one prepared write per MTU - 5 bytes.
    public var prepareQueueLength = 64
    /// The physical layer of links.
    ///
    /// A device may override it. BlueZ and Android begin with 1M and stay there unless an app asks for 2M; Apple's
    /// phones choose 2M by themselves. Without a connection interval, packets take no time.
    public var phy = PHY.le1M
    /// The longest payload of a data packet that a host offers, 27...251 bytes; a link uses the smaller of the host's
    /// and the device's.
    ///
    /// A link uses less if two such packets do not fit into its connection interval. Longer data is split into several
    /// packets.
    public var maximumDataLength = 251
    /// The part of a connection event in which packets may be sent; nil is the whole interval.
    ///
    /// A device may override it. One packet of each side is always sent. A host with several links or an active scan
    /// has less than the interval for each.
    public var connectionEventLength: Duration?
    /// The maximum number of packets in one direction in one connection event; at least 1.
    ///
    /// A device may override it. A shorter event has room for fewer; see the page "Throughput".
    public var packetsPerConnectionEvent = 6
    /// The maximum deviation of the RSSI from its mean, in dBm, in both directions.
    public var rssiDeviation = 5
    /// The chance that a scanner misses an advertising packet.
    public var advertisingLossRate = 0.0
    /// Whether advertising packets that overlap on a channel destroy each other.
    ///
    /// If so, every device in range advertises while any host listens, which is slow with many devices. No preset
    /// enables it. See the page "Airtime and collisions".
    public var advertisingCollides = false
    /// The chance that a packet of a link is lost and sent again with the next connection event.
    ///
    /// A device may have a greater chance. Without a connection interval, no packet is lost.
    public var packetLossRate = 0.0
    /// The chance that a connect fails with "connection failed".
    public var connectionFailureRate = 0.0
    /// The chance that a read is refused as not permitted, and the same chance for a write.
    public var operationErrorRate = 0.0
    /// The number of lines that ``Emulator/trace`` keeps; older ones are dropped.
    ///
    /// nil keeps 1,000 in virtual time and none in real time, where lines add considerably to the cost of a read.
    public var traceLimit: Int?

    /// Creates the settings of ``default``.
    public init() {}

    /// The settings with plausible delays and no failures.
    public static let `default` = EmulatorConfiguration()

    /// The settings without latency; periods (advertising, timers, the supervision timeout) are unchanged.
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

    /// The settings of a weak signal and a busy adapter: long delays, the smallest MTU, small buffers.
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

    /// The settings with random failures: one connect in five, one read or write in ten.
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
