import AsyncBluetooth
import BluetoothSupport
import CoreBluetooth

/// One period of a ``SimulatedDevice`` from its start to its stop, with its profile servers as services of a
/// `PeripheralServer`.
final class DeviceSession: Sendable {
    private struct State {
        var server: PeripheralServer?
        var task: Task<Void, any Error>?
        var isStopped = false
        var jobs: [ObjectIdentifier: PeriodicJob] = [:]
    }

    /// Work that a profile server repeats while a central subscribes.
    struct PeriodicJob: Sendable {
        let interval: @Sendable () -> Duration?
        let body: @Sendable () -> Void
    }

    private let servers: [any ProfileServer]
    private let onEvent: (@Sendable (PeripheralServer.Event) -> Void)?
    private let started = Waiter<Void>()
    private let state = Lock(State())
    /// The published path of each value.
    private let paths: [ObjectIdentifier: CharacteristicID]

    init(_ servers: [any ProfileServer], _ onEvent: (@Sendable (PeripheralServer.Event) -> Void)?) {
        self.servers = servers
        self.onEvent = onEvent
        var paths: [ObjectIdentifier: CharacteristicID] = [:]
        let services = AttributePathComponent.numbered(servers.map(\.service)).map {
            ServiceID($0.uuid, instance: $0.instance)
        }
        for (server, service) in zip(servers, services) {
            for (value, component) in zip(server.values, AttributePathComponent.numbered(server.values.map(\.uuid))) {
                paths[ObjectIdentifier(value)] = CharacteristicID(
                    component.uuid, instance: component.instance, in: service)
            }
        }
        self.paths = paths
    }

    // MARK: Start and stop

    /// Publishes the services; returns when the device advertises.
    func start(
        name: String, advertising advertised: [CBUUID], on backend: CBBackendSelection?
    ) async throws {
        let offer = ServedOffer(
            services: servers.map { server in
                ServedService(server.service, characteristics: server.values.map { characteristic($0) })
            }, name: name, advertisedServices: advertised)
        // Values answer at once, so requests need no time limit.
        let settings = PeripheralServer.Settings(handlerTimeout: nil, handlerLimit: 4096)
        let server = PeripheralServer(
            backend: backend, offer: offer, settings: settings, onEvent: { [weak self] in self?.handle($0) })
        let isStopped = state.withLock { state in
            if !state.isStopped { state.server = server }
            return state.isStopped
        }
        guard !isStopped else { throw SimulatedDeviceError.stopped }
        for (value, path) in servers.flatMap(\.values).map({ ($0, paths[ObjectIdentifier($0)]) }) {
            guard let path else { continue }
            value.connect { [weak server] in server?.send($0, of: path) }
        }
        let context = ServerContext { [weak self] in self }
        for profile in servers { profile.start(context) }
        // Errors are reported as events.
        let task = Task(executorPreference: server.executor) { try await server.run() }
        state.withLock { $0.task = task }
        try await started.value {}
    }

    func stop() {
        started.finish(.failure(SimulatedDeviceError.stopped))
        let (server, task) = state.withLock { state in
            defer { (state.server, state.task, state.jobs, state.isStopped) = (nil, nil, [:], true) }
            return (state.server, state.task)
        }
        for profile in servers { for value in profile.values { value.connect(nil) } }
        task?.cancel()
        server?.withdrawAll()
    }

    private func deviceError(_ error: BluetoothError) -> SimulatedDeviceError {
        let cause: any Error = if case .refused(let cause) = error.reason { cause } else { error }
        let service = servers.map(\.service).first { $0.uuidString == error.path }
        return service.map { .serviceRefused($0, cause) } ?? .advertisingRefused(cause)
    }

    // MARK: Values

    private func characteristic(_ value: any ServedAttribute) -> ServedCharacteristic {
        var permissions: CBAttributePermissions = []
        if value.properties.contains(.read) {
            permissions.insert(value.requiresEncryption ? .readEncryptionRequired : .readable)
        }
        if !value.properties.isDisjoint(with: [.write, .writeWithoutResponse]) {
            permissions.insert(value.requiresEncryption ? .writeEncryptionRequired : .writeable)
        }
        return ServedCharacteristic(
            value.uuid, value.properties, permissions: permissions, descriptors: value.descriptors,
            onRead: { _ in try value.read() },
            onWrite: { request in
                let before = request.offset == 0 ? Data() : try value.read()
                guard request.offset <= before.count else { throw CBATTError(.invalidOffset) }
                try value.write(Data(before.prefix(request.offset)) + request.value)
            },
            whileSubscribed: { [weak self] characteristic in
                while let job = self?.job(of: value), let interval = job.interval(), interval > .zero {
                    try await characteristic.sleep(for: interval)
                    job.body()
                }
            })
    }

    private func job(of value: any ServedAttribute) -> PeriodicJob? {
        state.withLock { $0.jobs[ObjectIdentifier(value)] }
    }

    func `repeat`(_ job: PeriodicJob, whileSubscribedTo value: any ServedAttribute) {
        state.withLock { $0.jobs[ObjectIdentifier(value)] = job }
    }

    func isSubscribed(to value: any ServedAttribute) -> Bool {
        guard let path = paths[ObjectIdentifier(value)] else { return false }
        return state.withLock { $0.server }?.subscribers(of: path).isEmpty == false
    }

    var periodicCharacteristics: Set<CBUUID> {
        Set(servers.flatMap(\.values).filter { job(of: $0)?.interval().map { $0 > .zero } ?? false }.map(\.uuid))
    }

    var server: PeripheralServer? { state.withLock { $0.server } }

    // MARK: Events

    private func handle(_ event: PeripheralServer.Event) {
        guard state.withLock({ !$0.isStopped }) else { return }
        onEvent?(event)
        switch event {
        case .advertising: started.finish(.success(()))
        case .stateChanged(let new) where ![.poweredOn, .unknown, .resetting].contains(new):
            started.finish(.failure(SimulatedDeviceError.unavailable(new)))
        case .failed(let error): started.finish(.failure(deviceError(error)))
        default: break
        }
    }
}
