#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// An emulated `bluetoothd`: its adapters, the sessions of its clients and the devices that it knows, as one value.
///
/// Pure and synchronous: ``handle(_:at:)`` handles inputs and returns the outputs, in the order in which the caller
/// must perform them. It uses no thread, no lock, no clock, no bus and no controller.
struct BluetoothDaemon: Sendable {
    let configuration: EmulatedBlueZConfiguration
    let interfaces: BlueZInterfaces
    var tree = ObjectTree()
    var adapters: [DaemonAdapter] = []
    var agents = Agents()
    var profiles = Profiles()
    var batteries = Batteries()
    var requests: [RequestToClient.ID: RequestPurpose] = [:]
    var sockets: [ClientSocketID: SocketPurpose] = [:]
    var now = Duration.zero
    private(set) var outputs: [DaemonOutput] = []
    private(set) var lastNumber: UInt64 = 0

    static let root = ObjectPath.constant("/org/bluez")

    init(_ configuration: EmulatedBlueZConfiguration) {
        self.configuration = configuration
        interfaces = BlueZInterfaces(configuration.dialect, isExperimental: configuration.isExperimental)
        tree.add([BlueZInterfaces.agentManager: [:], BlueZInterfaces.profileManager: [:]], at: Self.root)
        _ = tree.flush()
    }

    var dialect: BlueZDialect { configuration.dialect }

    /// Handles inputs that arrived together; their changes of one object become a single signal.
    ///
    /// - Parameter instant: The time since the daemon started.
    mutating func handle(_ inputs: [DaemonInput], at instant: Duration) -> [DaemonOutput] {
        now = instant
        for input in inputs { handle(input) }
        flush()
        defer { outputs = [] }
        return outputs
    }

    private mutating func handle(_ input: DaemonInput) {
        switch input {
        case .hostAdded(let host): addAdapter(host)
        case .call(let call): receive(call)
        case .reply(let id, let result): replied(id, result)
        case .signal(let signal): receive(signal)
        case .clientLeft(let client): forget(client)
        case .central(let adapter, let event): handle(event, on: adapter)
        case .peripheral(let adapter, let event): handle(event, on: adapter)
        case .centralConnected(let adapter, let central): centralConnected(central, on: adapter)
        case .centralDisconnected(let adapter, let central): centralDisconnected(central, on: adapter)
        case .advertiser(let adapter, let id, let event): handle(event, of: id, on: adapter)
        case .pairing(let adapter, let event): handle(event, on: adapter)
        case .identityKnown(let adapter, let facts): showIdentity(facts, on: adapter)
        case .appearanceRead(let adapter, let peer, let value): appearanceRead(value, of: peer, on: adapter)
        case .timer(let timer): fired(timer)
        case .received(let socket, let data): received(data, on: socket)
        case .closed(let socket): closed(socket)
        }
    }

    // MARK: Outputs

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    mutating func nextOperation() -> OperationID { OperationID(rawValue: nextNumber()) }

    mutating func output(_ output: DaemonOutput) { outputs.append(output) }

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
        _ purpose: RequestPurpose, of client: String, _ path: ObjectPath, _ interface: String, _ member: String,
        _ arguments: [DBusValue] = [], deadline: Duration
    ) {
        let id = RequestToClient.ID(rawValue: nextNumber())
        requests[id] = purpose
        flush()
        output(
            .request(
                RequestToClient(
                    id: id, destination: client, path: path, interface: interface, member: member,
                    arguments: arguments, deadline: deadline)))
    }
}
#endif
