#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials

/// How long things of the peripheral role may take.
struct PeripheralTimings: Sendable {
    /// `RegisterApplication` and `RegisterAdvertisement`, in which the daemon asks us back.
    var registration = Duration.seconds(20)
    /// How long bluetoothd waits for the answer to a read or a write, before it answers the central with 0x0E.
    var request = Duration.seconds(5)
    /// How long the end of a link or of a subscription waits for an event that would explain it: a loss of power, or that
    /// another central left; see ``Subscriptions``.
    ///
    /// bluetoothd reports subscriptions first, then links, and the power last.
    var quiescence = Duration.milliseconds(300)
}

/// Our end of a notification socket.
struct SocketID: Hashable, Sendable {
    let number: UInt64
}

/// What a timer of the peripheral role is for; at most one of each runs.
enum PeripheralTimer: AdapterRoleTimer {
    case adapterReturn
    case request(RequestID)
    /// A central whose link or subscriptions seem to have ended.
    case leaving(PeerID)
    /// A characteristic whose sockets and links do not fit together yet.
    case quiescence(ObjectPath)
}

/// What comes in.
enum PeripheralRoleInput: AdapterRoleInput {
    typealias Event = PeripheralEvent

    case daemon(DaemonEvent)
    case reply(CallID, Result<[DBusValue], DBusError>)
    case called(IncomingCall)
    /// `closed` also where the socket could not be made.
    case socket(SocketID, WriteSocket.Event)
    /// The answer of ``PeripheralRoleEffect/listen(_:_:_:isEncryptionRequired:)``.
    case listening(HostLedger.Manager, OperationID, Result<UInt16, BackendError>, isEncryptionRequired: Bool)
    /// A central opened a channel.
    case channelAccepted(UInt16, ChannelPool.Opening, L2CAPAddress)
    /// A channel is over, and not by our doing.
    case channelEnded(ChannelID)
    case timer(PeripheralTimer)
    case activated(HostLedger.Manager)
    case command(HostLedger.Manager, PeripheralCommand)
    case invalidated(HostLedger.Manager)
}

/// What goes out, in order.
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
    /// Does something with an open channel.
    case channel(ChannelID, ChannelPool.Action)
    case startTimer(PeripheralTimer, Duration)
    case stopTimer(PeripheralTimer)
    /// Whether something that is published requires encryption, so that centrals may pair.
    case pairingNeedChanged(Bool)
    case log(LogMessage)
}

/// An object of ours, for the daemon.
struct ExportedObject: Equatable, Sendable {
    /// Its interface, and by it what can be called.
    enum Kind: String, Sendable {
        /// Only lists what is below it.
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
