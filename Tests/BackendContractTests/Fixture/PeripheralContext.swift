import CoreBluetooth
import Testing

/// The context of a scenario of the peripheral role: one manager, its trace, centrals across the air, the usual steps.
final class PeripheralContext: ContractParticipant {
    let manager: CBPeripheralManager
    /// The state before the manager's queue could change it.
    let stateAtFirst: CBManagerState
    /// The queue of the manager.
    let queue: DispatchQueue
    let one: CentralAcross
    let two: CentralAcross

    /// - Parameters:
    ///   - identifier: The app's restore identifier, if it has one.
    ///   - centrals: The centrals of the scenario's first manager, for a second one.
    init(
        _ run: ScenarioRun, restoring identifier: String? = nil,
        centrals: (one: CentralAcross, two: CentralAcross)? = nil
    ) {
        let trace = ContractTrace()
        (manager, stateAtFirst, queue) = Self.start(run.name) { queue in
            CBPeripheralManager(
                backend: run.fixture.backend, delegate: trace, queue: queue,
                options: identifier.map { [CBPeripheralManagerOptionRestoreIdentifierKey: $0] })
        }
        one = centrals?.one ?? CentralAcross(.one, in: run)
        two = centrals?.two ?? CentralAcross(.two, in: run)
        super.init(run, trace)
    }

    /// Creates another manager on the same adapter.
    func makeOther(restoring identifier: String? = nil) -> PeripheralContext {
        PeripheralContext(run, restoring: identifier, centrals: (one, two))
    }

    /// Checks that no central reported unexpected events.
    func finishCentrals() async throws {
        try await one.finish()
        try await two.finish()
    }

    // MARK: Steps

    /// Adds a service.
    func add(_ service: CBMutableService, at location: SourceLocation = #_sourceLocation) async throws {
        manager.add(service)
        try await expect(.didAdd(service.contract), at: location)
    }

    /// Advertises a service under a name.
    func advertise(
        _ service: ContractAttribute = .served, name: String = "Served",
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: name,
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(service)],
        ])
        try await expect(.didStartAdvertising(), at: location)
    }

    /// Powers on, publishes and advertises a service.
    func publish(
        _ service: CBMutableService = LocalServices.main(), at location: SourceLocation = #_sourceLocation
    ) async throws -> CBMutableService {
        try await powerOn()
        try await add(service, at: location)
        try await advertise(service.contract, at: location)
        return service
    }

    /// Publishes, and connects the first central.
    func serve(
        _ service: CBMutableService = LocalServices.main(), at location: SourceLocation = #_sourceLocation
    ) async throws -> CBMutableService {
        _ = try await publish(service, at: location)
        try await one.connect(to: service.contract, at: location)
        return service
    }

    /// Subscribes a central, the first one by default.
    ///
    /// - Parameter count: The number of subscribers, including this one.
    func subscribe(
        _ attribute: ContractAttribute, by central: CentralAcross? = nil, subscribers count: Int = 1,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let central = central ?? one
        try await central.perform(.subscribe(attribute))
        try await expect(.didSubscribe(attribute, subscribers: count), at: location)
        try await central.expect(.subscribed(attribute, true), at: location)
    }

    /// Unsubscribes the first central, the only subscriber.
    func unsubscribe(_ attribute: ContractAttribute, at location: SourceLocation = #_sourceLocation) async throws {
        try await one.perform(.subscribe(attribute, false))
        try await expect(.didUnsubscribe(attribute, subscribers: 0), at: location)
        try await one.expect(.subscribed(attribute, false), at: location)
    }

    /// Sends a value to all subscribers, or to the listed ones; false if the queue is full.
    func update(_ characteristic: CBMutableCharacteristic, _ value: Data, to centrals: [CBCentral]? = nil) -> Bool {
        manager.updateValue(value, for: characteristic, onSubscribedCentrals: centrals)
    }

    // MARK: Requests

    /// Waits for a read, and returns it.
    func receiveRead(
        of attribute: ContractAttribute = .dynamic, offset: Int = 0,
        at location: SourceLocation = #_sourceLocation
    ) async throws -> CBATTRequest {
        try await expect(.didReceiveRead(attribute, at: offset), at: location)
        return try nextRead()
    }

    /// Waits for a read, and answers it with the part of a value from its offset.
    func answerRead(
        of attribute: ContractAttribute = .dynamic, offset: Int = 0, with value: Data,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        try await expect(.didReceiveRead(attribute, at: offset), at: location)
        try respondToRead(with: value)
    }

    /// Returns the oldest request without a response, which must be a read.
    func nextRead() throws -> CBATTRequest {
        guard case .read(let request)? = trace.nextRequest() else { throw ContractTimeout() }
        return request.object
    }

    /// Returns the oldest request without a response, which must be a write.
    func nextWrite() throws -> [CBATTRequest] {
        guard case .write(let requests)? = trace.nextRequest() else { throw ContractTimeout() }
        return requests.map(\.object)
    }

    /// Answers the oldest request, a read, with the part of a value from its offset.
    func respondToRead(with value: Data) throws {
        let request = try nextRead()
        request.value = Data(value.dropFirst(request.offset))
        manager.respond(to: request, withResult: .success)
    }

    /// Answers the oldest request, a write.
    func respondToWrite(_ code: CBATTError.Code = .success) throws {
        manager.respond(to: try #require(try nextWrite().first), withResult: code)
    }

    /// Waits until the first central has received everything that was sent before, because a read follows it on the
    /// link.
    func roundTrip(at location: SourceLocation = #_sourceLocation) async throws {
        try await one.read(.constant, expecting: "static", at: location)
    }
}
