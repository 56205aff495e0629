import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// A central manager's backend in a virtual world, with its events.
final class Fixture: Sendable {
    let emulator: Emulator
    let central: any CentralBackend
    let sink: RecordingSink

    init(
        _ configuration: EmulatorConfiguration = .instant, seed: UInt64 = 1, host: String? = nil,
        emulator: Emulator? = nil, central: (any CentralBackend)? = nil,
        reaction: @escaping @Sendable (CentralEvent) -> Void = { _ in }
    ) {
        self.emulator = emulator ?? Emulator(configuration: configuration, time: .virtual, seed: seed)
        self.central = central ?? self.emulator.makeCentral(RoleOptions(adapter: host))
        sink = RecordingSink(reaction: reaction)
    }

    var events: [CentralEvent] { sink.events }

    /// Returns the events after the first `count` ones.
    func events(from count: Int) -> [CentralEvent] { Array(events.dropFirst(count)) }

    func submit(_ command: CentralCommand) { central.submit(command) }

    /// Activates the manager and waits for power.
    func powerOn() async throws {
        central.activate(sink)
        try await wait { $0 == .stateChanged(.poweredOn) }
    }

    /// Drives until a matching event has arrived.
    func wait(
        within limit: Duration = .seconds(60), for isMatch: @escaping @Sendable (CentralEvent) -> Bool
    ) async throws {
        try await emulator.advance(until: { self.events.contains(where: isMatch) }, within: limit)
    }

    /// Scans until `device` is found, and stops.
    func find(_ device: EmulatedDevice, host: String = "default") async throws -> PeerID {
        let peer = try #require(device.identifier(onHost: host))
        submit(.startScan(ScanParameters()))
        try await wait { event in
            if case .discovered(let discovery) = event { discovery.peer == peer } else { false }
        }
        submit(.stopScan)
        return peer
    }

    /// Scans, connects and returns the link.
    func connect(_ device: EmulatedDevice, options: ConnectOptions = ConnectOptions()) async throws -> LinkID {
        let peer = try await find(device)
        let count = events.count
        submit(.connect(peer: peer, operation: OperationID(rawValue: 9000), options: options))
        try await emulator.advance(until: { self.link(from: count) != nil })
        // The host reads the name by itself.
        try await emulator.advance(by: .seconds(1))
        return try #require(link(from: count))
    }

    /// The most recently opened link.
    var lastLink: LinkID? { link(from: 0) }

    private func link(from count: Int) -> LinkID? {
        events(from: count).compactMap { event -> LinkID? in
            if case .connected(_, let link, _, _) = event { link } else { nil }
        }.last
    }

    /// Discovers the services, characteristics and descriptors of a link, in handle order.
    func attributes(_ link: LinkID) async throws -> Attributes {
        var found = Attributes()
        var operation = OperationID(rawValue: 10_000)
        func ask(_ command: (OperationID) -> CentralCommand) async throws -> CentralEvent {
            operation = operation.next
            let count = events.count
            submit(command(operation))
            try await emulator.advance(until: { self.events.count > count })
            return try #require(events(from: count).first)
        }
        let answer = try await ask { .request(link: link, operation: $0, .discoverServices(nil)) }
        guard case .response(_, _, .services(let services)) = answer else { throw Unexpected(answer) }
        found.services = services
        for service in services {
            let answer = try await ask {
                .request(link: link, operation: $0, .discoverCharacteristics(of: service.id, nil))
            }
            guard case .response(_, _, .characteristics(let records)) = answer else { throw Unexpected(answer) }
            found.characteristics += records
        }
        return found
    }

    /// Submits commands, and returns all events until the world is idle.
    func run(_ commands: CentralCommand...) async throws -> [CentralEvent] {
        let count = events.count
        for command in commands { submit(command) }
        try await emulator.runUntilIdle()
        return events(from: count)
    }
}

struct Unexpected: Error, CustomStringConvertible {
    let text: String
    init(_ text: String) { self.text = text }

    init(_ event: CentralEvent) { text = "\(event)" }
    var description: String { "unexpected \(text)" }
}

/// The discovered attributes of a link.
struct Attributes {
    var services: [ServiceRecord] = []
    var characteristics: [CharacteristicRecord] = []

    func service(_ uuid: BluetoothUUID, _ index: Int = 0) throws -> AttributeID {
        try #require(services.filter { $0.uuid == uuid }.dropFirst(index).first).id
    }

    func characteristic(_ uuid: BluetoothUUID, _ index: Int = 0) throws -> AttributeID {
        try #require(characteristics.filter { $0.uuid == uuid }.dropFirst(index).first).id
    }
}

/// Creates an operation number.
func op(_ number: UInt64) -> OperationID { OperationID(rawValue: number) }
