#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// The number of a method call of a client, by which it is answered.
struct ClientCallID: Hashable, Sendable {
    let rawValue: UInt64
}

/// A method call of a client; object, interface and signature are those of an exported method.
struct ClientCall: Sendable {
    let id: ClientCallID
    /// The unique name of the client's connection.
    let sender: String
    let path: ObjectPath
    /// The interface; empty where the client left it out.
    var interface: String
    let member: String
    let signature: String
    let arguments: [DBusValue]
}

/// A signal of a client: only those of objects that it registered matter.
struct ClientSignal: Sendable {
    let sender: String
    let path: ObjectPath
    let interface: String
    let member: String
    let arguments: [DBusValue]
}

/// What happens to an emulated daemon.
enum DaemonInput: Sendable {
    /// An emulated host appears as an adapter.
    indirect case hostAdded(HostFacts)
    indirect case call(ClientCall)
    /// A client answered a call of the daemon's.
    indirect case reply(RequestToClient.ID, Result<[DBusValue], DBusError>)
    indirect case signal(ClientSignal)
    /// A connection left the bus.
    case clientLeft(String)
    case central(adapter: Int, CentralEvent)
    case peripheral(adapter: Int, PeripheralEvent)
    /// A central is connected to the services of an adapter.
    indirect case centralConnected(adapter: Int, PeerFacts)
    case centralDisconnected(adapter: Int, PeerID)
    case advertiser(adapter: Int, AdvertisementID, PeripheralEvent)
    case pairing(adapter: Int, PairingEvent)
    /// A device that bonds discloses its identity address.
    indirect case identityKnown(adapter: Int, PeerFacts)
    /// The Appearance of a device, from its Generic Access.
    case appearanceRead(adapter: Int, PeerID, Data)
    case timer(DaemonTimer)
    /// A client wrote to the socket of `AcquireWrite`, or of `AcquireNotify` of its own characteristic.
    case received(ClientSocketID, Data)
    case closed(ClientSocketID)
}

/// What an adapter shows of its host, when it appears.
struct HostFacts: Hashable, Sendable {

    var name: String
    var address: String
    var isRandomAddress: Bool
    var isPowered: Bool
    /// The number of advertisements that are on the air at a time.
    var advertisingSets = 5
    /// The devices that it is bonded with.
    var bonds: [PeerFacts] = []
}

/// What is known of a device that was not heard.
struct PeerFacts: Hashable, Sendable {
    var peer: PeerID
    var address: String
    var isRandom: Bool
    var name: String?
}

/// What an emulated daemon does.
enum DaemonOutput: Sendable {
    case answer(ClientCallID, [DBusValue])
    case refuse(ClientCallID, DBusError)
    case signal(ObjectTree.Signal)
    /// Calls a method of a client's object.
    indirect case request(RequestToClient)
    case central(adapter: Int, CentralCommand)
    case peripheral(adapter: Int, PeripheralCommand)
    case pairing(adapter: Int, PairingCommand)
    /// A peripheral role of an advertisement's own.
    case openAdvertiser(adapter: Int, AdvertisementID)
    case advertiser(adapter: Int, AdvertisementID, PeripheralCommand)
    case closeAdvertiser(adapter: Int, AdvertisementID)
    case host(adapter: Int, HostAction)
    /// Reads the Appearance of a connected device, whose Generic Access the controller's events leave out.
    case readAppearance(adapter: Int, PeerID)
    /// Listens to the signals of a client's objects.
    case watch(client: String)
    case schedule(DaemonTimer, after: Duration)
    /// Makes a pair of sockets, and answers the call with one end and the MTU.
    case answerWithSocket(ClientCallID, ClientSocketID, mtu: Int)
    /// The socket that a client gave with its reply.
    case adopt(ClientSocketID, DBusFileDescriptor)
    case send(ClientSocketID, Data)
    case close(ClientSocketID)
    /// A line for the log.
    case remark(String)
}

/// A change of a host that no role makes.
enum HostAction: Hashable, Sendable {
    case power(Bool)
    case removeBond(PeerID)
    /// Ends the link of a central to the host's services.
    case disconnectCentral(PeerID, isForSecurity: Bool)
}

/// A call of the daemon to a client.
struct RequestToClient: Sendable {
    struct ID: Hashable, Sendable {
        let rawValue: UInt64
    }

    let id: ID
    let destination: String
    let path: ObjectPath
    let interface: String
    let member: String
    let arguments: [DBusValue]
    let deadline: Duration
}

struct AdvertisementID: Hashable, Sendable {
    let rawValue: UInt64
}

struct ClientSocketID: Hashable, Sendable {
    let rawValue: UInt64
}

/// A time that the daemon waits for; a timer that no one waits for any more changes nothing.
enum DaemonTimer: Hashable, Sendable {
    /// A temporary device may be forgotten.
    case temporary(adapter: Int, PeerID)
    case connect(adapter: Int, PeerID, OperationID)
    case disconnect(adapter: Int, PeerID, UInt64)
    case discoverableOver(adapter: Int, UInt64)
    /// An advertisement ends, or is no longer discoverable.
    case advertisementOver(adapter: Int, AdvertisementID, UInt64)
    case advertisementHidden(adapter: Int, AdvertisementID, UInt64)
    /// A monitor may not have heard a device for long.
    case monitored(adapter: Int, MonitorKey, PeerID, UInt64)
}
#endif
