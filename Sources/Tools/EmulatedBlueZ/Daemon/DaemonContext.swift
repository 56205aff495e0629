#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// The part of an emulated daemon that its adapters and devices share: the objects on the bus, the calls and sockets of
/// clients, the configuration, the time and the outputs.
///
/// Pure. An adapter or a device changes itself, and the context that is passed to it; it knows no other adapter.
struct DaemonContext: Sendable {
    let configuration: EmulatedBlueZConfiguration
    let interfaces: BlueZInterfaces
    var tree = ObjectTree()
    var agents = Agents()
    var batteries = Batteries()
    var requests: [RequestToClient.ID: RequestPurpose] = [:]
    var sockets: [ClientSocketID: SocketPurpose] = [:]
    var now = Duration.zero
    private var outputs: [DaemonOutput] = []
    private(set) var lastNumber: UInt64 = 0

    init(_ configuration: EmulatedBlueZConfiguration) {
        self.configuration = configuration
        interfaces = BlueZInterfaces(configuration)
    }

    var dialect: BlueZDialect { configuration.dialect }

    // MARK: Outputs

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func nextOperation() -> OperationID { OperationID(rawValue: nextNumber()) }

    mutating func output(_ output: DaemonOutput) { outputs.append(output) }

    mutating func takeOutputs() -> [DaemonOutput] { exchange(&outputs, with: []) }

    /// Sends the signals of all changes.
    mutating func flush() {
        for signal in tree.flush() { outputs.append(.signal(signal)) }
    }

    /// Answers a call, after the signals of all changes before.
    mutating func answer(_ call: ClientCallID, _ values: [DBusValue] = []) {
        flush()
        outputs.append(.answer(call, values))
    }

    /// Refuses a call, after the signals of all changes before.
    mutating func refuse(_ call: ClientCallID, _ error: DBusError) {
        flush()
        outputs.append(.refuse(call, error))
    }

    /// Changes a property; nil removes it.
    mutating func set(
        _ property: String, _ value: DBusValue?, of interface: String, at path: ObjectPath, isRepeated: Bool = false
    ) {
        tree.set(value, of: property, interface, at: path, isRepeated: isRepeated)
    }

    /// Removes interfaces, or an object; the signals of earlier changes come first.
    mutating func remove(_ path: ObjectPath, only interfaces: [String]? = nil) {
        for signal in tree.remove(path, only: interfaces) { outputs.append(.signal(signal)) }
    }

    /// Calls a method of a client's object.
    mutating func request(
        _ purpose: RequestPurpose, of object: ClientObject, _ interface: String, _ member: String,
        _ arguments: [DBusValue] = []
    ) {
        let id = RequestToClient.ID(rawValue: nextNumber())
        requests[id] = purpose
        flush()
        output(
            .request(
                RequestToClient(
                    id: id, destination: object.client, path: object.path, interface: interface, member: member,
                    arguments: arguments, deadline: purpose.deadline(configuration))))
    }

    // MARK: Sockets

    /// The number of a new socket.
    mutating func addSocket(_ purpose: SocketPurpose) -> ClientSocketID {
        let socket = ClientSocketID(rawValue: nextNumber())
        sockets[socket] = purpose
        return socket
    }

    mutating func close(_ socket: ClientSocketID) {
        sockets[socket] = nil
        output(.close(socket))
    }
}

/// The purpose of a socket.
enum SocketPurpose: Sendable {
    /// Values of a device for a client.
    case notifying(adapter: Int, PeerID, AttributeID, client: String)
    /// Write commands of a client for a device.
    case writing(adapter: Int, PeerID, AttributeID, client: String)
    /// Values of a client's own characteristic for a central.
    case serving(adapter: Int, AttributeID, central: PeerID, client: String)

    var client: String {
        switch self {
        case .notifying(_, _, _, let client), .writing(_, _, _, let client), .serving(_, _, _, let client): client
        }
    }
}
#endif
