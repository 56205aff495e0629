import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// The emulated phone of a spec central: a separate host, and the central role of a backend on it.
///
/// The spec owns it, and not the emulator's sink.
///
/// Thread rule: all members may be used from any thread.
final class CentralDevice: @unchecked Sendable {
    private(set) weak var world: MockWorld?
    private weak var spec: CBMCentralSpec?
    private let emulator: Emulator
    private let host: EmulatedHost
    private let role: any CentralBackend
    // Invariant: the state is accessed under this lock; the references are set once.
    private let client = Protected(CentralClient())

    /// Creates a phone; nil if the world cannot have another one.
    init?(_ spec: CBMCentralSpec, in world: MockWorld, of emulator: Emulator) {
        let name = "central \(spec.identifier)"
        let address = DeviceAddress(of: spec.identifier, generation: 0)
        do {
            host =
                try emulator.host(named: name)
                ?? emulator.add(
                    HostDescription(name: name, address: address, maximumMTU: spec.maximumUpdateValueLength + 3))
            if !world.knowsCentral(spec.identifier) {
                // The emulator needs a device with an address to find the identifier of that address.
                let probe = try emulator.add(PeripheralDescription(name: name, address: address))
                if let peer = probe.identifier(onHost: emulator.host.name) {
                    world.identify(central: spec.identifier, as: peer)
                }
                probe.remove()
            }
        } catch {
            log.error("the central \(spec.identifier) is not simulated: \(error)")
            return nil
        }
        self.world = world
        self.spec = spec
        self.emulator = emulator
        role = emulator.makeCentral(RoleOptions(adapter: host.name))
        role.activate(CentralSink(self))
        Self.all.withLock { all in
            all.removeAll { $0.object == nil }
            all.append(WeakReference(self))
        }
    }

    deinit { role.invalidate() }

    private static let all = Protected<[WeakReference<CentralDevice>]>([])

    /// Returns the specs in a world.
    static func specs(in world: MockWorld) -> [CBMCentralSpec] {
        all.withLock { $0.compactMap(\.object) }.filter { $0.world === world }.compactMap(\.spec)
    }

    /// Returns the spec with an identifier, if it is in a world.
    static func spec(_ identifier: UUID, in world: MockWorld) -> CBMCentralSpec? {
        specs(in: world).first { $0.identifier == identifier }
    }

    // MARK: Links

    /// Connects to the devices of the mock managers.
    ///
    /// - Returns: Whether any exists.
    func connect() -> Bool {
        guard let spec, let server = emulator.host.peripheral, let peer = server.identifier(onHost: host.name) else {
            return false
        }
        var configuration = emulator.configuration
        configuration.connectionInterval = Duration(seconds: spec.connectionInterval, clampedTo: .zero ... .seconds(4))
        emulator.configure(configuration)
        host.connectOtherApp(to: server, withoutAdvertising: true)
        let operation = client.withLock { $0.nextConnect() }
        role.submit(.connect(peer: peer, operation: operation, options: ConnectOptions()))
        return true
    }

    /// Ends the connection.
    func disconnect() {
        guard let server = emulator.host.peripheral, let peer = server.identifier(onHost: host.name) else { return }
        role.submit(.disconnect(peer: peer))
        host.disconnectOtherApp(from: server)
    }

    /// Handles an event of the role, on the queue of the sink.
    func handle(_ event: CentralEvent) {
        switch event {
        case .connected(_, let link, let operation, let parameters):
            client.withLock { $0.linked(link, by: operation, credits: parameters.writeCredits) }
            discover(on: link)
        case .connectFailed, .disconnected:
            let (isOutdated, waiting) = client.withLock { ($0.isOutdated, $0.unlinked()) }
            if !isOutdated, let spec { spec.disconnected(from: self) }
            waiting.forEach { $0(nil) }
        case .servicesChanged(let link, _, _):
            client.withLock { $0.isExplored = false }
            discover(on: link)
        case .writeCredits(_, let count): sendCommands(adding: count)
        case .response(_, let operation, let response):
            client.withLock { $0.pending.removeValue(forKey: operation) }?(response)
        case .valueNotified(_, let attribute, let value): notified(value, of: attribute)
        default: break
        }
    }

    private func request(
        _ request: LinkRequest, on link: LinkID, _ completion: @escaping (LinkResponse?) -> Void
    ) {
        let operation = client.withLock { client in
            let operation = client.nextOperation()
            client.pending[operation] = completion
            return operation
        }
        role.submit(.request(link: link, operation: operation, request))
    }

    // MARK: Attributes

    /// Discovers all services and characteristics of the link.
    private func discover(on link: LinkID) {
        request(.discoverServices(nil), on: link) { [weak self] response in
            guard let self, case .services(let services)? = response else { return }
            self.explore(services, found: [], on: link)
        }
    }

    private func explore(_ services: [ServiceRecord], found: [CentralClient.Service], on link: LinkID) {
        guard let next = services.first else {
            client.withLock { $0.explored(found) }.forEach { $0(link) }
            return
        }
        request(.discoverCharacteristics(of: next.id, nil), on: link) { [weak self] response in
            guard let self, case .characteristics(let characteristics)? = response else { return }
            self.explore(
                Array(services.dropFirst()),
                found: found + [CentralClient.Service(uuid: next.uuid, characteristics: characteristics)], on: link)
        }
    }

    /// The published services, in the order of their managers.
    private var published: [CBMMutableService] { world?.peripheralManagers.flatMap(\.services) ?? [] }

    private func notified(_ value: Data, of attribute: AttributeID) {
        guard let spec, let delegate = spec.delegate,
            let characteristic = client.withLock({ [published] in $0.characteristic(attribute, of: published) })
        else { return }
        world?.enqueueHook { delegate.central(spec, didReceiveUpdate: value, for: characteristic) }
    }

    // MARK: Requests

    /// Sends a request; the completion is called as a hook.
    func perform(
        _ request: CentralRequest, at characteristic: CBMMutableCharacteristic,
        _ completion: @escaping (Result<Data, any Error>) -> Void
    ) {
        let complete: (Result<Data, any Error>) -> Void = { [world] result in
            world?.enqueueHook { completion(result) }
        }
        guard
            let manager = world?.peripheralManagers.first(where: { manager in
                manager.services.contains { $0.mutables.contains { $0 === characteristic } }
            })
        else { return complete(.failure(CBMATTError(.attributeNotFound))) }
        if let part = request.part, let spec {
            let request = OffsetRequest(
                offset: part.offset, value: part.value, spec: spec, characteristic: characteristic, manager: manager)
            return request.perform(on: emulator, complete)
        }
        let waiting: (LinkID?) -> Void = { [weak self] link in
            guard let self, let link else { return complete(.failure(CBMError(.notConnected))) }
            self.send(request, at: characteristic, on: link, complete)
        }
        if let link = client.withLock({ $0.wait(waiting) }) { waiting(link) }
    }

    private func send(
        _ request: CentralRequest, at characteristic: CBMMutableCharacteristic, on link: LinkID,
        _ complete: @escaping (Result<Data, any Error>) -> Void
    ) {
        let attribute = client.withLock { [published] in $0.attribute(of: characteristic, in: published) }
        guard let attribute else { return complete(.failure(CBMATTError(.attributeNotFound))) }
        let operation: LinkRequest
        switch request {
        case .read: operation = .read(attribute)
        case .write(let data, _): operation = .write(attribute, data)
        case .subscribe(let isOn): operation = .setNotifying(attribute, isOn)
        case .command(let data):
            guard data.count <= spec?.maximumUpdateValueLength ?? 20 else {
                log.warning("a write command of \(data.count) bytes is dropped: it does not fit into a packet")
                return
            }
            client.withLock { $0.commands.append((attribute, data)) }
            return sendCommands(adding: 0)
        }
        self.request(operation, on: link) { response in
            switch response {
            case .value(let value)?: complete(.success(value))
            case .failure(let error)?: complete(.failure(error.appError))
            case nil: complete(.failure(CBMError(.notConnected)))
            default: complete(.success(Data()))
            }
        }
    }

    /// Sends the write commands that credits allow.
    private func sendCommands(adding credits: Int) {
        let (link, commands) = client.withLock { $0.takeCommands(adding: credits) }
        guard let link else { return }
        for (attribute, value) in commands {
            role.submit(.writeCommand(link: link, attribute: attribute, value: value))
        }
    }
}

/// A sink that passes the events of a role to a phone, in order, as long as it lives.
private final class CentralSink: EventSink {
    let label = "CoreBluetoothMock central"
    private let queue = DispatchQueue(label: "CoreBluetoothMock central")
    private let device: Protected<WeakReference<CentralDevice>>

    init(_ device: CentralDevice) { self.device = Protected(WeakReference(device)) }

    func deliver(_ event: CentralEvent) {
        queue.async { [device] in device.withLock { $0.object }?.handle(event) }
    }

    func afterDelivery(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
}

extension BackendError {
    /// The error that a client of this module receives.
    fileprivate var appError: any Error {
        if let original { return original.error }
        guard let attCode, let code = CBMATTError.Code(rawValue: Int(attCode)) else { return CBMError(.unknown) }
        return CBMATTError(code)
    }
}
