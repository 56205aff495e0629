#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport

/// An emulated `bluetoothd`: its adapters, the sessions of its clients and the devices that it knows, as one value.
///
/// Pure and synchronous: ``handle(_:at:)`` handles inputs and returns the outputs, in the order in which the caller
/// must perform them. It uses no thread, no lock, no clock, no bus and no controller.
struct BluetoothDaemon: Sendable {
    var context: DaemonContext
    var adapters: [DaemonAdapter] = []
    var profiles = Profiles()

    static let root = ObjectPath.constant("/org/bluez")

    init(_ configuration: EmulatedBlueZConfiguration) {
        context = DaemonContext(configuration)
        context.tree.add([BlueZInterfaces.agentManager: [:], BlueZInterfaces.profileManager: [:]], at: Self.root)
        _ = context.tree.flush()
    }

    /// Handles inputs that arrived together; their changes of one object become a single signal.
    ///
    /// - Parameter instant: The time since the daemon started.
    mutating func handle(_ inputs: [DaemonInput], at instant: Duration) -> [DaemonOutput] {
        context.now = instant
        for input in inputs { handle(input) }
        context.flush()
        return context.takeOutputs()
    }

    private mutating func handle(_ input: DaemonInput) {
        switch input {
        case .hostAdded(let host): addAdapter(host)
        case .call(let call): receive(call)
        case .reply(let id, let result): replied(id, result)
        case .signal(let signal): receive(signal)
        case .clientLeft(let client): forget(client)
        case .central(let index, let event): adapters[index].handle(event, &context)
        case .peripheral(let index, let event): adapters[index].handle(event, &context)
        case .centralConnected(let index, let central): adapters[index].centralConnected(central, &context)
        case .centralDisconnected(let index, let central): adapters[index].centralDisconnected(central, &context)
        case .advertiser(let index, let id, let event): adapters[index].advertisements.handle(event, of: id, &context)
        case .pairing(let index, let event): adapters[index].handle(event, &context)
        case .identityKnown(let index, let facts): adapters[index].devices[facts.peer]?.showIdentity(facts, &context)
        case .appearanceRead(let index, let peer, let value):
            adapters[index].devices[peer]?.showAppearance(value, &context)
        case .timer(let timer): fired(timer)
        case .received(let socket, let data): received(data, on: socket)
        case .closed(let socket): closed(socket)
        }
    }

    /// Exports a host as an adapter, with its bonded devices.
    private mutating func addAdapter(_ facts: HostFacts) {
        var adapter = DaemonAdapter(facts, index: adapters.count, isPairable: context.hasAgent)
        adapter.export(&context)
        adapters.append(adapter)
        context.agents.capabilities.append(.noInputNoOutput)
        context.showCapability()
    }

    // MARK: Timers

    private mutating func fired(_ timer: DaemonTimer) {
        switch timer {
        case .temporary(let index, let peer): adapters[index].temporaryTimePassed(peer, &context)
        case .connect(let index, let peer, let operation):
            adapters[index].devices[peer]?.connectTimedOut(operation, &context)
        case .disconnect(let index, let peer, let number):
            adapters[index].devices[peer]?.disconnectDelayPassed(number, &context)
        case .discoverableOver(let index, let number): adapters[index].discoverableOver(number, &context)
        case .advertisementOver(let index, let id, let number):
            adapters[index].advertisements.timeIsOver(id, number, &context)
        case .advertisementHidden(let index, let id, let number):
            adapters[index].advertisements.hide(id, number, adapters[index].state, &context)
        case .monitored(let index, let key, let peer, let number):
            adapters[index].monitoredTimePassed(key, peer, number, &context)
        }
    }

    // MARK: Sockets

    private mutating func received(_ data: Data, on socket: ClientSocketID) {
        switch context.sockets[socket] {
        case .writing(let index, let peer, let id, _)?:
            adapters[index].devices[peer]?.connection.link?.received(data, for: id, &context)
        case .serving(let index, let id, let central, _)?:
            adapters[index].applications.received(data, for: id, to: central, &context)
        case .notifying?, nil: break
        }
    }

    mutating func closed(_ socket: ClientSocketID) {
        switch context.sockets.removeValue(forKey: socket) {
        case .notifying(let index, let peer, let id, _)?, .writing(let index, let peer, let id, _)?:
            adapters[index].devices[peer]?.socketClosed(socket, id, &context)
        case .serving(let index, let id, let central, _)?: adapters[index].applications.socketClosed(id, central)
        case nil: break
        }
    }
}
#endif
