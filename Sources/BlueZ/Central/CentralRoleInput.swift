#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// A method call that the host wants made on the present owner of `org.bluez`.
struct MethodCall: Equatable, Sendable {
    var path: ObjectPath
    var interface: String
    var member: String
    var body: [DBusValue] = []
    var deadline: Duration
}

/// A method call in flight, or another question with one answer.
struct CallID: Hashable, Sendable {
    let number: UInt64
    /// The peer of the link whose operation the call carries out; see ``LinkState/inFlight``.
    var peer: PeerID?

    // The numbers are unique.
    static func == (left: CallID, right: CallID) -> Bool { left.number == right.number }

    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// A socket of a link, for write commands or for notifications.
struct LinkSocketID: Hashable, Sendable {
    let number: UInt64
    let peer: PeerID
}

/// What a timer is for; at most one of each runs.
enum CentralTimer: AdapterRoleTimer {
    case connectRetry(PeerID)
    case connectTurn
    case foreignLinkGrace(PeerID)
    case discoveryRetry
    case resolution(PeerID)
    case awaitingServices(PeerID)
    case draining(PeerID)
    case attributeRetry(PeerID)
    case linkLoss(PeerID)
    case powerLoss(PeerID)
    case serviceChanges(PeerID)
    case closedSockets(PeerID)
    case adapterReturn
}

/// What comes in.
enum CentralRoleInput: AdapterRoleInput {
    typealias Event = CentralEvent

    case daemon(DaemonEvent)
    case reply(CallID, Result<[DBusValue], DBusError>)
    /// The answer of ``CentralRoleEffect/openChannel(_:from:to:)``.
    case channelReply(CallID, Result<ChannelPool.Opening, BackendError>)
    /// The answer of ``CentralRoleEffect/readSignalStrength(_:of:on:)``, in dBm.
    case signalStrength(CallID, Result<Int, BackendError>)
    /// A channel is over, and not by our doing.
    case channelEnded(ChannelID)
    /// Something happened to a socket for write commands.
    case socket(LinkSocketID, WriteSocket.Event)
    /// Something happened to a socket for notifications.
    case notificationSocket(LinkSocketID, NotificationSockets.Event)
    /// Our user refused to pair with a peer.
    case pairingRefused(PeerID)
    case timer(CentralTimer)
    /// The manager of this number, yet to be activated, has a restore identifier, under which this was left.
    case restoring(HostLedger.Manager, PreservedCentral?)
    case activated(HostLedger.Manager)
    case command(HostLedger.Manager, CentralCommand)
    case invalidated(HostLedger.Manager)
}

/// What goes out, in order.
enum CentralRoleEffect: AdapterRoleEffect, Equatable {
    case call(CallID, MethodCall)
    /// Opens an L2CAP channel.
    case openChannel(CallID, from: L2CAPAddress, to: L2CAPAddress)
    /// Asks a controller for the signal strength of the link to a peer.
    case readSignalStrength(CallID, of: L2CAPAddress, on: ControllerID)
    /// Does something with an open channel.
    ///
    /// What is received, and credits, go from the channel to its manager directly.
    case channel(ChannelID, ChannelPool.Action)
    /// Does something with a socket for write commands.
    case socket(LinkSocketID, WriteSocket.Action)
    /// Does something with a socket for notifications.
    case notificationSocket(LinkSocketID, NotificationSockets.Action)
    /// An operation failed because encryption or authentication was missing.
    case securityFailed(PeerID)
    /// Whether a connection that is there, or being made, may need pairing.
    case pairingNeedChanged(Bool)
    /// Asks for a snapshot.
    case refresh
    case deliver(HostLedger.Manager, CentralEvent)
    /// Keeps something for the process that comes after this one; nil: nothing.
    case preserve(HostLedger.Manager, PreservedCentral?)
    case startTimer(CentralTimer, Duration)
    case stopTimer(CentralTimer)
    case log(LogMessage)
}

/// Something for the log.
struct LogMessage: Equatable, Sendable {
    enum Level: Sendable { case debug, info, warning }
    var level: Level
    var text: String

    /// Writes it to the log.
    func write() {
        switch level {
        case .debug: BlueZLog.debug(text)
        case .info: BlueZLog.info(text)
        case .warning: BlueZLog.warning(text)
        }
    }
}

/// Which adapter a manager wants.
enum AdapterSelector: Hashable, Sendable {
    /// The first one that is on, or else the first one.
    case any
    /// `hci1`.
    case name(String)
    /// `00:11:22:33:44:55`.
    case address(String)

    init(_ text: String?) {
        switch text {
        case nil, "": self = .any
        case let text? where text.contains(":"): self = .address(text.uppercased())
        case let text?: self = .name(text)
        }
    }
}
#endif
