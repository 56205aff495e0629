#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport

/// The number of a client's method call, which identifies it for the answer.
struct ClientCallID: Hashable, Sendable {
    let rawValue: UInt64
}

/// An object of a client.
struct ClientObject: Hashable, Sendable {
    /// The unique name of the client's connection.
    let client: String
    let path: ObjectPath
}

/// A method call of a client; object, interface and signature are those of an exported method.
struct ClientCall: Sendable {
    let id: ClientCallID
    /// The unique name of the client's connection.
    let sender: String
    let path: ObjectPath
    /// The interface; empty if the client omitted it.
    var interface: String
    let member: String
    let signature: String
    let arguments: [DBusValue]

    /// The object of the client whose path is the first argument.
    ///
    /// - Throws: `InvalidArguments` if the first argument is not a path.
    func namedObject() throws(DBusError) -> ClientObject {
        guard let path = arguments.first?.pathValue else { throw BlueZError.invalidArguments }
        return ClientObject(client: sender, path: path)
    }
}

/// A signal of a client; only signals of objects that it registered have an effect.
struct ClientSignal: Sendable {
    let sender: String
    let path: ObjectPath
    let interface: String
    let member: String
    let arguments: [DBusValue]

    var object: ClientObject { ClientObject(client: sender, path: path) }
}

/// An event that an emulated daemon handles.
enum DaemonInput: Sendable {
    /// An emulated host appears as an adapter.
    indirect case hostAdded(HostFacts)
    indirect case call(ClientCall)
    /// A client answered a call of the daemon.
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

/// The facts about a host that its adapter exports when it appears.
struct HostFacts: Hashable, Sendable {
    var name: String
    var address: DeviceAddress
    var isPowered: Bool
    /// The number of advertisements that can be on the air at a time.
    var advertisingSets = 5
    /// The bonded devices.
    var bonds: [PeerFacts] = []
}

/// The known facts about a device before it is heard.
struct PeerFacts: Hashable, Sendable {
    var peer: PeerID
    var address: DeviceAddress
    var name: String?
}

/// An action of an emulated daemon.
enum DaemonOutput: Sendable {
    case answer(ClientCallID, [DBusValue])
    case refuse(ClientCallID, DBusError)
    case signal(ObjectTree.Signal)
    /// Calls a method of a client's object.
    indirect case request(RequestToClient)
    case central(adapter: Int, CentralCommand)
    case peripheral(adapter: Int, PeripheralCommand)
    case pairing(adapter: Int, PairingCommand)
    /// Creates a separate peripheral role for an advertisement.
    case openAdvertiser(adapter: Int, AdvertisementID)
    case advertiser(adapter: Int, AdvertisementID, PeripheralCommand)
    case closeAdvertiser(adapter: Int, AdvertisementID)
    case host(adapter: Int, HostAction)
    /// Reads the Appearance of a connected device, because the controller's events omit its Generic Access.
    case readAppearance(adapter: Int, PeerID)
    /// Listens to the signals of a client's objects.
    case watch(client: String)
    case schedule(DaemonTimer, after: Duration)
    /// Makes a pair of sockets, and answers the call with one end and the MTU.
    case answerWithSocket(ClientCallID, ClientSocketID, mtu: Int)
    /// Adopts the socket that a client gave with its reply.
    case adopt(ClientSocketID, DBusFileDescriptor)
    case send(ClientSocketID, Data)
    case close(ClientSocketID)
    /// Logs a line.
    case remark(String)
}

/// A change of a host that no role can make.
enum HostAction: Hashable, Sendable {
    case power(Bool)
    case removeBond(PeerID)
    /// Ends the link of a central to the host's services.
    case disconnectCentral(PeerID, isForSecurity: Bool)
    /// Asks a connected central to encrypt the link.
    case requestSecurity(PeerID)
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

/// A timer of the daemon; an outdated timer changes nothing.
enum DaemonTimer: Hashable, Sendable {
    /// A temporary device is due to be forgotten.
    case temporary(adapter: Int, PeerID)
    case connect(adapter: Int, PeerID, OperationID)
    case disconnect(adapter: Int, PeerID, UInt64)
    case discoverableOver(adapter: Int, UInt64)
    /// An advertisement ends, or is no longer discoverable.
    case advertisementOver(adapter: Int, AdvertisementID, UInt64)
    case advertisementHidden(adapter: Int, AdvertisementID, UInt64)
    /// The time without a packet from a monitored device is due to be checked.
    case monitored(adapter: Int, MonitorKey, PeerID, UInt64)
}
#endif
