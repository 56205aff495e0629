#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport
import Dispatch
import Logging

/// Connects an emulated daemon with a message bus and with the hosts of an emulator.
// Invariant: all variables are used on `queue` only, except the inbox, which its own lock guards.
final class DaemonRunner: @unchecked Sendable {
    private static let logger = Logger(label: "EmulatedBlueZ")

    private let emulator: Emulator
    private let connection: DBusConnection
    private let start = DispatchTime.now()
    /// The inputs from other threads that are not handled yet.
    private let inbox = Lock(DaemonInbox())
    private var daemon: BluetoothDaemon
    private var hosts: [HostRoles] = []
    private var centrals = ConnectedCentrals()
    private var links: EmulatorTap?
    private var advertisers: [AdvertisementID: any PeripheralBackend] = [:]
    private var clients = BusClients()
    private var sockets: [ClientSocketID: PacketConnection] = [:]
    private var isStopped = false

    init(_ emulator: Emulator, on connection: DBusConnection, _ configuration: EmulatedBlueZConfiguration) {
        self.emulator = emulator
        self.connection = connection
        daemon = BluetoothDaemon(configuration)
    }

    /// Exports the hosts, and begins to answer calls.
    ///
    /// On the queue.
    func activate() {
        for host in emulator.hosts where !host.isAnonymous && host.hci == nil { add(host) }
        links = emulator.tap(.links) { [weak self] event in
            switch event.kind {
            case .connectionOpened, .connectionClosed: self?.linksChanged()
            default: break
            }
        }
        clients.departures = connection.subscribe(
            DBusMatchRule(sender: BusDriver.name, interface: BusDriver.name, member: "NameOwnerChanged")
        ) { [weak self] message in self?.ownerChanged(message) }
        connection.onCall { [weak self] call in self?.receive(call) }
    }

    /// Ends all roles, sockets and calls.
    ///
    /// On the queue.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        links = nil
        connection.onCall(nil)
        clients = BusClients()
        for host in hosts { host.invalidate() }
        for advertiser in advertisers.values { advertiser.invalidate() }
        advertisers = [:]
        for socket in sockets.values { socket.close() }
        sockets = [:]
        connection.close()
    }

    private func add(_ host: EmulatedHost) {
        let roles = HostRoles(host, index: hosts.count) { [weak self] input in self?.enqueue(input) }
        hosts.append(roles)
        handle(.hostAdded(roles.facts))
        roles.activate()
    }

    // MARK: Inputs

    /// The time for which advertising packets are collected, as in a controller; all other inputs are handled at once.
    private static let reportDelay = DispatchTimeInterval.milliseconds(5)

    /// Adds an input and schedules its handling.
    ///
    /// Any thread.
    private func enqueue(_ input: DaemonInput) {
        switch inbox.withLock({ $0.append(input) }) {
        case .none: break
        case .soon:
            connection.queue.asyncAfter(machineDeadline: .now() + Self.reportDelay) { [weak self] in self?.drain() }
        case .now: connection.queue.async { [weak self] in self?.drain() }
        }
    }

    private func drain() {
        // The world may be about to report more events of the same instant.
        emulator.synchronize()
        let inputs = inbox.withLock { $0.takeAll() }.flatMap { identity(before: $0) + [$0] }
        guard !inputs.isEmpty else { return }
        // A central has its object before it sends any request.
        handle((inputs.contains(where: \.isAboutCentrals) ? centrals.changes(of: hosts) : []) + inputs)
    }

    /// The input with the identity address of a device that bonds, which its keys contain.
    private func identity(before input: DaemonInput) -> [DaemonInput] {
        guard case .pairing(let index, .paired(let peer, _, true)) = input,
            let facts = hosts[index].facts.bonds.first(where: { $0.peer == peer })
        else { return [] }
        return [.identityKnown(adapter: index, facts)]
    }

    /// Updates the connected centrals after a link of the world opened or closed.
    ///
    /// Any thread.
    private func linksChanged() {
        connection.queue.async { [weak self] in
            guard let self, !isStopped else { return }
            drain()
            handle(centrals.changes(of: hosts))
        }
    }

    private func handle(_ inputs: DaemonInput...) { handle(inputs) }

    private func handle(_ inputs: [DaemonInput]) {
        guard !isStopped else { return }
        let elapsed = DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds
        for output in daemon.handle(inputs, at: .nanoseconds(Int64(clamping: elapsed))) { perform(output) }
    }

    private func receive(_ call: DBusCall) {
        // Earlier reports of the controller are handled first.
        drain()
        let id = clients.add(call)
        handle(
            .call(
                ClientCall(
                    id: id, sender: call.sender, path: call.path, interface: call.interface ?? "", member: call.member,
                    signature: call.signature, arguments: call.arguments)))
    }

    private func ownerChanged(_ message: DBusMessage) {
        guard case .success(let values) = Result<DBusMessage, DBusError>.success(message).values, values.count == 3,
            let name = values[0].stringValue, values[2].stringValue == "", clients.remove(name)
        else { return }
        handle(.clientLeft(name))
    }

    // MARK: Outputs

    private func perform(_ output: DaemonOutput) {
        switch output {
        case .answer(let id, let values): clients.removeCall(id)?.answer(values)
        case .refuse(let id, let error): clients.removeCall(id)?.refuse(error)
        case .signal(let signal): send(signal)
        case .request(let request): send(request)
        case .central(let index, let command): hosts[index].central.submit(command)
        case .peripheral(let index, let command): hosts[index].peripheral.submit(command)
        case .pairing(let index, let command): hosts[index].pairing.submit(command)
        case .openAdvertiser(let index, let id): advertisers[id] = hosts[index].makeAdvertiser(id)
        case .advertiser(_, let id, let command): advertisers[id]?.submit(command)
        case .closeAdvertiser(_, let id): advertisers.removeValue(forKey: id)?.invalidate()
        case .host(let index, let action): hosts[index].perform(action)
        case .readAppearance(let index, let peer):
            if let value = hosts[index].appearance(of: peer) { enqueue(.appearanceRead(adapter: index, peer, value)) }
        case .watch(let client): watch(client)
        case .schedule(let timer, let delay):
            connection.queue.asyncAfter(machineDeadline: .now() + delay.dispatchInterval) { [weak self] in
                self?.handle(.timer(timer))
            }
        case .answerWithSocket(let call, let socket, let mtu): answer(call, with: socket, mtu: mtu)
        case .adopt(let socket, let descriptor): adopt(descriptor, as: socket)
        case .send(let socket, let data): sockets[socket]?.send(data)
        case .close(let socket): sockets.removeValue(forKey: socket)?.close()
        case .remark(let text): Self.logger.line(.info, "\(text)")
        }
    }

    private func send(_ signal: ObjectTree.Signal) {
        do throws(DBusError) {
            try connection.send(
                .signal(path: signal.path, interface: signal.interface, member: signal.member, signal.body))
        } catch {
            // The end of the connection is reported elsewhere.
            guard error.name != DBusError.Name.disconnected else { return }
            Self.logger.line(.error, "\(signal.member) of \(signal.path) could not be sent: \(error)")
        }
    }

    private func send(_ request: RequestToClient) {
        connection.call(
            try .methodCall(
                to: request.destination, path: request.path, interface: request.interface, member: request.member,
                request.arguments),
            deadline: request.deadline
        ) { [weak self] reply in
            self?.handle(.reply(request.id, reply.values))
        }
    }

    /// Subscribes to the signals of a client that registered objects.
    private func watch(_ client: String) {
        guard clients.subscriptions[client] == nil else { return }
        let rules = [
            DBusMatchRule(
                sender: client, interface: StandardInterface.properties.name, member: "PropertiesChanged"),
            DBusMatchRule(sender: client, interface: StandardInterface.objectManager.name),
        ]
        clients.subscriptions[client] = rules.map { rule in
            connection.subscribe(rule) { [weak self] message in self?.receive(message, from: client) }
        }
    }

    private func receive(_ message: DBusMessage, from client: String) {
        guard let path = message.path, let interface = message.interface, let member = message.member else { return }
        switch Result<DBusMessage, DBusError>.success(message).values {
        case .success(let values):
            handle(
                .signal(
                    ClientSignal(sender: client, path: path, interface: interface, member: member, arguments: values)))
        case .failure(let error): Self.logger.line(.debug, "a signal of \(client) could not be read: \(error)")
        }
    }

    // MARK: Sockets

    private func answer(_ call: ClientCallID, with socket: ClientSocketID, mtu: Int) {
        do throws(DBusError) {
            let (own, other) = try DBusFileDescriptor.packetSockets()
            try open(socket, own)
            clients.removeCall(call)?.answer([.fileDescriptor(other), .uint16(UInt16(clamping: mtu))])
        } catch {
            clients.removeCall(call)?.refuse(BlueZError.failed("Failed"))
            handle(.closed(socket))
        }
    }

    /// Adopts a client's socket; closes it if no descriptor is left to watch it with.
    private func adopt(_ descriptor: DBusFileDescriptor, as socket: ClientSocketID) {
        do throws(DBusError) {
            try open(socket, descriptor)
        } catch {
            handle(.closed(socket))
        }
    }

    private func open(_ socket: ClientSocketID, _ descriptor: DBusFileDescriptor) throws(DBusError) {
        let packets = try PacketConnection(descriptor, on: connection.queue) { [weak self] data in
            guard let data else {
                self?.sockets.removeValue(forKey: socket)?.close()
                self?.handle(.closed(socket))
                return
            }
            self?.handle(.received(socket, data))
        }
        sockets[socket] = packets
    }
}
#endif
