import CoreBluetooth
import Testing

/// What a scenario of the peripheral role works with: one manager, its trace, centrals across the air, the usual steps.
final class PeripheralContext: ContractParticipant {
    let manager: CBPeripheralManager
    /// Before its queue could tell any.
    let stateAtFirst: CBManagerState
    /// The manager's.
    let queue: DispatchQueue
    let one: CentralAcross
    let two: CentralAcross

    /// - Parameters:
    ///   - identifier: The app's restore identifier, if it has one.
    ///   - centrals: Those of the scenario's first manager, for a second one.
    init(
        _ fixture: any ContractFixture, scenario: String, differences: [String: [String]],
        restoring identifier: String? = nil, centrals: (one: CentralAcross, two: CentralAcross)? = nil
    ) {
        let trace = ContractTrace()
        (manager, stateAtFirst, queue) = Self.begin(scenario) { queue in
            fixture.makePeripheralManager(
                delegate: trace, queue: queue,
                options: identifier.map { [CBPeripheralManagerOptionRestoreIdentifierKey: $0] })
        }
        one = centrals?.one ?? CentralAcross(fixture, .one, scenario: scenario, differences: differences)
        two = centrals?.two ?? CentralAcross(fixture, .two, scenario: scenario, differences: differences)
        super.init(fixture, scenario: scenario, differences: differences, trace: trace)
    }

    /// Another manager on the same radio.
    func makeOther(restoring identifier: String? = nil) -> PeripheralContext {
        PeripheralContext(
            fixture, scenario: scenario, differences: [:], restoring: identifier, centrals: (one, two))
    }

    /// No central told more than was expected.
    func finishCentrals() async throws {
        try await one.finish()
        try await two.finish()
    }

    // MARK: Steps

    /// Adds a service.
    func add(_ service: CBMutableService, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        manager.add(service)
        try await expect("didAdd \(service.uuid.short)", sourceLocation: sourceLocation)
    }

    /// Advertises a service by a name.
    func advertise(
        _ service: String = "C0DE1000", name: String = "Served", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        manager.startAdvertising([
            CBAdvertisementDataLocalNameKey: name,
            CBAdvertisementDataServiceUUIDsKey: [CBUUID(contract: service)],
        ])
        try await expect("didStartAdvertising true", sourceLocation: sourceLocation)
    }

    /// Powers on, publishes and advertises a service.
    func publish(
        _ service: CBMutableService = LocalServices.main(), sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> CBMutableService {
        try await powerOn()
        try await add(service, sourceLocation: sourceLocation)
        try await advertise(service.uuid.short, sourceLocation: sourceLocation)
        return service
    }

    /// Publishes, and connects the first central.
    func serve(
        _ service: CBMutableService = LocalServices.main(), sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> CBMutableService {
        _ = try await publish(service, sourceLocation: sourceLocation)
        try await one.perform(.connect(service: service.uuid.short))
        try await one.expect("connected", sourceLocation: sourceLocation)
        return service
    }

    /// Subscribes the first central; the manager has this many subscribers then.
    func subscribe(_ uuid: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await one.perform(.subscribe(uuid))
        try await expect("didSubscribe \(uuid) of 1", sourceLocation: sourceLocation)
        try await one.expect("subscribed \(uuid) true", sourceLocation: sourceLocation)
    }

    // MARK: Requests

    /// The oldest read that was not taken.
    func takeRead() throws -> CBATTRequest {
        guard case .read(let request)? = trace.takeRequest() else { throw ContractTimeout() }
        return request.object
    }

    /// The oldest write that was not taken.
    func takeWrite() throws -> [CBATTRequest] {
        guard case .write(let requests)? = trace.takeRequest() else { throw ContractTimeout() }
        return requests.map(\.object)
    }

    /// Answers the oldest read that was not taken with what follows its offset in a value.
    func answerRead(_ value: Data) throws {
        let request = try takeRead()
        request.value = Data(value.dropFirst(request.offset))
        manager.respond(to: request, withResult: .success)
    }

    /// Answers the oldest write that was not taken.
    func answerWrite(_ code: CBATTError.Code = .success) throws {
        manager.respond(to: try #require(try takeWrite().first), withResult: code)
    }

    /// Lets everything that was sent before arrive: a read goes through the same line.
    func fence(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await one.perform(.read("C0DE1002"))
        try await one.expect("read C0DE1002 737461746963", sourceLocation: sourceLocation)
    }
}
