/// The version of BlueZ that an emulated one imitates.
///
/// Clients detect the features of BlueZ by the presence of interfaces and properties, which differ between versions.
public enum BlueZDialect: String, Hashable, Sendable, CaseIterable, Codable, Comparable {
    /// BlueZ 5.66, of Debian 12.
    case bluez5_66 = "5.66"
    /// BlueZ 5.82, of Debian 13.
    case bluez5_82 = "5.82"
    /// BlueZ 5.87, of Debian sid.
    case bluez5_87 = "5.87"

    /// Orders by version.
    public static func < (left: Self, right: Self) -> Bool { left.position < right.position }

    private var position: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The version, the delays and the limits of an emulated BlueZ.
public struct EmulatedBlueZConfiguration: Hashable, Sendable {
    /// The version of BlueZ that clients see.
    public var dialect: BlueZDialect
    /// Whether clients see the emulated part of the interfaces that `bluetoothd` exports only with `--experimental`.
    ///
    /// Advertisement monitors are experimental in BlueZ, but always available in an emulated one.
    public var isExperimental: Bool
    /// The time without a packet after which an unused device is forgotten; `TemporaryTimeout` of `main.conf`.
    public var temporaryTimeout: Duration
    /// The time after which `Device1.Connect` fails if the device is not heard.
    public var connectTimeout: Duration
    /// The time between `Device1.Disconnect` and the end of the link.
    public var disconnectDelay: Duration
    /// The time within which an application must answer a read or a write of its attributes.
    public var attributeDeadline: Duration
    /// The time within which a client must list the objects that it registers.
    public var applicationDeadline: Duration
    /// The time within which an agent must answer a question.
    public var agentDeadline: Duration
    /// The shortest time between two reports of one device; packets in between are received but not reported.
    public var reportInterval: Duration

    /// The passkey, 0...999999, with which the daemon answers pairings without an agent, accepting every question.
    ///
    /// If nil, such pairings stay without an agent, so that no device can be paired.
    ///
    /// The passkey is a consent to each pairing for which no client is asked.
    public var passkey: Int?

    /// Creates the default configuration of `bluetoothd`, with at most ten reports of a device per second.
    public init(
        dialect: BlueZDialect = .bluez5_66, isExperimental: Bool = false, temporaryTimeout: Duration = .seconds(30),
        connectTimeout: Duration = .seconds(40), disconnectDelay: Duration = .seconds(2),
        attributeDeadline: Duration = .seconds(5), applicationDeadline: Duration = .seconds(25),
        agentDeadline: Duration = .seconds(60),
        reportInterval: Duration = .milliseconds(100), passkey: Int? = nil
    ) {
        self.dialect = dialect
        self.isExperimental = isExperimental
        self.temporaryTimeout = temporaryTimeout
        self.connectTimeout = connectTimeout
        self.disconnectDelay = disconnectDelay
        self.attributeDeadline = attributeDeadline
        self.applicationDeadline = applicationDeadline
        self.agentDeadline = agentDeadline
        self.reportInterval = reportInterval
        self.passkey = passkey
    }

    /// Whether clients may provide batteries, whose source clients then see.
    ///
    /// BlueZ 5.66 allows it only with `--experimental`.
    var hasBatteryProviders: Bool { dialect >= .bluez5_82 || isExperimental }
}
