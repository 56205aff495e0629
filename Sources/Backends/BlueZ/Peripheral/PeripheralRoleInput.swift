#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// Deadlines and waits of the peripheral role.
struct PeripheralTimings: Sendable {
    /// The deadline of `RegisterApplication` and `RegisterAdvertisement`, during which the daemon calls back.
    var registration = Duration.seconds(20)
    /// The time in which bluetoothd expects the answer to a read or a write, before it answers the central with 0x0E.
    var request = Duration.seconds(5)
    /// The wait of an ended link or subscription for an event that would explain it.
    ///
    /// The explanation is a loss of power, or the end of another central's link; see ``Subscriptions``.
    ///
    /// bluetoothd reports subscriptions first, then links, and the power last.
    var quiescence = Duration.milliseconds(300)
}

/// A notification socket of this process.
struct SocketID: Hashable, Sendable {
    let number: UInt64
}

/// The purpose of a timer of the peripheral role; at most one timer of each purpose runs.
enum PeripheralTimer: AdapterRoleTimer {
    case adapterReturn
    case request(RequestID)
    /// The wait for a central whose link or subscriptions seem to have ended.
    case leaving(PeerID)
    /// The wait for a characteristic whose sockets and links are not consistent yet.
    case quiescence(ObjectPath)
}

/// An input of the peripheral role.
enum PeripheralRoleInput: AdapterRoleInput {
    typealias Event = PeripheralEvent

    case daemon(DaemonEvent)
    case reply(CallID, Result<MethodReply, DBusError>)
    case called(IncomingCall)
    /// An event of a socket; also `closed` if the socket could not be created.
    case socket(SocketID, WriteSocket.Event)
    /// The result of ``PeripheralRoleEffect/listen(_:_:_:isEncryptionRequired:)``.
    case listening(HostLedger.Manager, OperationID, Result<UInt16, BackendError>, isEncryptionRequired: Bool)
    /// A central opened a channel.
    case channelAccepted(UInt16, ChannelPool.Opening, L2CAPAddress)
    /// A channel ended, and not because this process closed it.
    case channelEnded(ChannelID)
    case timer(PeripheralTimer)
    case activated(HostLedger.Manager)
    case command(HostLedger.Manager, PeripheralCommand)
    case invalidated(HostLedger.Manager)
}

/// An effect of the peripheral role; effects are performed in order.
enum PeripheralRoleEffect: AdapterRoleEffect, Equatable {
    case call(CallID, MethodCall)
    case deliver(HostLedger.Manager, PeripheralEvent)
    case export(ExportedObject)
    case withdraw(ObjectPath)
    /// Sends a value to all subscribers of a characteristic.
    case broadcast(ObjectPath, Data)
    case answer(IncomingCall.Number, [DBusValue])
    case refuse(IncomingCall.Number, DBusError)
    /// Answers a call with one end of a new socket, and the MTU.
    case open(SocketID, IncomingCall.Number, mtu: UInt16)
    case send(SocketID, Data)
    case close(SocketID)
    case listen(HostLedger.Manager, OperationID, L2CAPAddress, isEncryptionRequired: Bool)
    case stopListening(UInt16)
    /// Performs an action on an open channel.
    case channel(ChannelID, ChannelPool.Action)
    case startTimer(PeripheralTimer, Duration)
    case stopTimer(PeripheralTimer)
    /// Reports whether a published attribute requires encryption, so that centrals may pair.
    case pairingNeedChanged(Bool)
    case log(LogMessage)
}

/// An exported object, for the daemon.
struct ExportedObject: Equatable, Sendable {
    /// The interface of an object, which determines its methods.
    enum Kind: String, Sendable {
        /// An object that only lists the objects below it.
        case application = ""
        case service = "org.bluez.GattService1"
        case characteristic = "org.bluez.GattCharacteristic1"
        case descriptor = "org.bluez.GattDescriptor1"
        case advertisement = "org.bluez.LEAdvertisement1"
    }

    var kind: Kind
    var path: ObjectPath
    var properties: [String: DBusValue] = [:]
}
#endif
