#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import BluetoothValues
import DequeModule

/// An adapter's own link with a device, as the central, and the requests on it that have no response yet.
struct DaemonLink: Sendable {
    let adapter: Int
    let peer: PeerID
    let id: LinkID
    var mtu: Int
    private var credits: Int
    /// Whether responses are withheld because this side refused to pair.
    var isMute = false
    /// The write commands that wait for the controller.
    private var commands = Deque<(attribute: AttributeID, value: Data)>()
    /// The requests that wait for the last of the commands.
    private var requests: [(operation: OperationID, request: LinkRequest)] = []
    private var operations: [OperationID: LinkPurpose] = [:]
    /// The discovery of the services; nil as soon as they are known.
    var discovery: ServiceDiscovery?

    init(adapter: Int, peer: PeerID, id: LinkID, _ parameters: LinkParameters) {
        (self.adapter, self.peer, self.id) = (adapter, peer, id)
        (mtu, credits) = (parameters.mtu, parameters.writeCredits)
    }

    // MARK: Requests

    /// Sends a request, after the write commands that wait.
    ///
    /// Source: BlueZ, `src/shared/att.c`, `pick_next_send_op`: a request is sent when no command is left.
    mutating func send(_ request: LinkRequest, for purpose: LinkPurpose, _ context: inout DaemonContext) {
        let operation = context.nextOperation()
        operations[operation] = purpose
        if case .discovery = purpose { discovery?.outstanding.insert(operation) }
        guard commands.isEmpty else { return requests.append((operation, request)) }
        context.output(.central(adapter: adapter, .request(link: id, operation: operation, request)))
    }

    /// The purpose of a request that has its response; nil if the response is withheld.
    mutating func takePurpose(of operation: OperationID) -> LinkPurpose? {
        isMute ? nil : operations.removeValue(forKey: operation)
    }

    /// The purposes of the requests that have no response yet, oldest first.
    var purposes: [LinkPurpose] { operations.sorted { $0.key < $1.key }.map(\.value) }

    // MARK: Write commands

    /// Sends the value that a client wrote to a socket, truncated to what the link carries.
    mutating func received(_ value: Data, for attribute: AttributeID, _ context: inout DaemonContext) {
        _ = enqueue(value.prefix(ATTLimits.written(mtu: mtu)), attribute, &context)
    }

    /// Sends a write command, or queues it until the controller accepts it.
    ///
    /// - Returns: Whether the queue has room for it.
    mutating func enqueue(_ value: Data, _ attribute: AttributeID, _ context: inout DaemonContext) -> Bool {
        guard commands.count < DaemonLimits.queuedCommands else { return false }
        commands.append((attribute, value))
        sendCommands(&context)
        return true
    }

    mutating func grantCredits(_ count: Int, _ context: inout DaemonContext) {
        credits += count
        sendCommands(&context)
    }

    /// Sends as many write commands as the controller accepts, and after the last one the requests that wait for it.
    private mutating func sendCommands(_ context: inout DaemonContext) {
        while credits > 0, let command = commands.popFirst() {
            credits -= 1
            context.output(
                .central(
                    adapter: adapter, .writeCommand(link: id, attribute: command.attribute, value: command.value)))
        }
        guard commands.isEmpty else { return }
        for (operation, request) in exchange(&requests, with: []) {
            context.output(.central(adapter: adapter, .request(link: id, operation: operation, request)))
        }
    }
}

/// The purpose of a request on a link.
enum LinkPurpose: Sendable {
    /// A discovery within an attribute; nil for the services of the device.
    case discovery(of: AttributeID?)
    case read(AttributeID)
    case readDescriptor(AttributeID)
    case write(AttributeID, ClientCallID)
    case writeDescriptor(AttributeID, ClientCallID)
    case subscribe(AttributeID)
    case acquireNotify(AttributeID, ClientCallID, sender: String)
    case unsubscribe
    case batteryLevel
}
#endif
