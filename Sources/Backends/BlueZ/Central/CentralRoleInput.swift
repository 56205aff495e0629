#if os(Linux)
import BluetoothBackend
import BluetoothDBus

/// A method call in flight, or another request with one answer.
struct CallID: Hashable, Sendable {
    let number: UInt64
    /// The peer of the link whose operation the call carries out; see ``CentralLink/inFlight``.
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

/// The purpose of a timer; at most one timer of each purpose runs.
enum CentralTimer: AdapterRoleTimer {
    case connectRetry(PeerID)
    case foreignLinkGrace(PeerID)
    case discoveryRetry
    case link(PeerID, CentralLink.Timer)
    case adapterReturn
}

/// An input of the role machine.
enum CentralRoleInput: AdapterRoleInput {
    typealias Event = CentralEvent

    case daemon(DaemonEvent)
    case reply(CallID, Result<MethodReply, DBusError>)
    /// The result of ``CentralRoleEffect/openChannel(_:from:to:)``.
    case channelReply(CallID, Result<ChannelPool.Opening, BackendError>)
    /// The result of ``CentralRoleEffect/readSignalStrength(_:of:on:)``, in dBm.
    case signalStrength(CallID, Result<Int, BackendError>)
    /// A channel ended, and not because this process closed it.
    case channelEnded(ChannelID)
    /// An event of a socket for write commands.
    case socket(LinkSocketID, WriteSocket.Event)
    /// An event of a socket for notifications.
    case notificationSocket(LinkSocketID, NotificationSockets.Event)
    /// The user of this process refused to pair with a peer.
    case pairingRefused(PeerID)
    case timer(CentralTimer)
    /// A manager that is about to be activated has a restore identifier; the state was preserved under it.
    case restoring(HostLedger.Manager, PreservedCentral?)
    case activated(HostLedger.Manager)
    case command(HostLedger.Manager, CentralCommand)
    case invalidated(HostLedger.Manager)
}

/// An effect of the role machine; effects are performed in order.
enum CentralRoleEffect: AdapterRoleEffect, Equatable {
    case call(CallID, MethodCall)
    /// Opens an L2CAP channel.
    case openChannel(CallID, from: L2CAPAddress, to: L2CAPAddress)
    /// Asks a controller for the signal strength of the link to a peer.
    case readSignalStrength(CallID, of: L2CAPAddress, on: ControllerID)
    /// Performs an action on an open channel.
    ///
    /// Received data and credits pass from the channel to its manager directly.
    case channel(ChannelID, ChannelPool.Action)
    /// Performs an action on a socket for write commands.
    case socket(LinkSocketID, WriteSocket.Action)
    /// Performs an action on a socket for notifications.
    case notificationSocket(LinkSocketID, NotificationSockets.Action)
    /// An operation failed because encryption or authentication was missing.
    case securityFailed(PeerID)
    /// Reports whether a connection, present or being made, may need pairing.
    case pairingNeedChanged(Bool)
    /// Requests a snapshot of all objects.
    case refresh
    case deliver(HostLedger.Manager, CentralEvent)
    /// Preserves the state of a manager for the next process; nil discards it.
    case preserve(HostLedger.Manager, PreservedCentral?)
    case startTimer(CentralTimer, Duration)
    case stopTimer(CentralTimer)
    case log(LogMessage)
}

/// A message for the log.
struct LogMessage: Equatable, Sendable {
    enum Level: Sendable { case debug, info, warning }
    var level: Level
    var text: String

    /// Writes the message to the log.
    func write() {
        switch level {
        case .debug: BlueZLog.debug(text)
        case .info: BlueZLog.info(text)
        case .warning: BlueZLog.warning(text)
        }
    }
}

/// The selection of an adapter by a manager.
enum AdapterSelector: Hashable, Sendable {
    /// The first adapter that is powered on, otherwise the first one.
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
