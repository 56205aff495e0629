import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// A peripheral manager's backend in the world of a central's fixture, with its events.
final class PeripheralFixture: Sendable {
    let emulator: Emulator
    let peripheral: any PeripheralBackend
    let sink = CollectingSink<PeripheralEvent>()

    /// - Parameter host: The host; nil creates a separate one.
    init(_ emulator: Emulator, host: String? = nil, restoreIdentifier: String? = nil) {
        self.emulator = emulator
        peripheral = emulator.makePeripheral(
            RoleOptions(adapter: host, restoreIdentifier: restoreIdentifier))
    }

    var events: [PeripheralEvent] { sink.events }

    func events(from count: Int) -> [PeripheralEvent] { Array(events.dropFirst(count)) }

    /// Submits commands, and returns all events until the world is idle.
    @discardableResult
    func run(_ commands: PeripheralCommand...) async throws -> [PeripheralEvent] {
        let count = events.count
        for command in commands { peripheral.submit(command) }
        try await emulator.runUntilIdle()
        return events(from: count)
    }

    /// Drives until a matching event arrives after the first `count` ones.
    func wait(
        from count: Int = 0, within limit: Duration = .seconds(60),
        for isMatch: @escaping @Sendable (PeripheralEvent) -> Bool
    ) async throws {
        try await emulator.advance(until: { self.events(from: count).contains(where: isMatch) }, within: limit)
    }

    func powerOn() async throws {
        peripheral.activate(sink)
        try await wait { $0 == .stateChanged(.poweredOn) }
    }

    /// The last request.
    var request: RequestID? {
        events.reversed().lazy.compactMap { event -> RequestID? in
            switch event {
            case .readRequested(let request, _, _, _, _): request
            case .writeRequested(let request, _, _, _, _): request
            default: nil
            }
        }.first
    }

    /// Waits for a request that comes after the first `count` events.
    func nextRequest(from count: Int) async throws -> PeripheralEvent {
        try await wait(from: count, for: \.isRequest)
        let request = events(from: count).first(where: \.isRequest)
        return try #require(request)
    }

    /// Answers the last request.
    func answer(_ value: Data? = nil, code: UInt8 = 0) throws {
        peripheral.submit(.respond(request: try #require(request), attCode: code, value: value))
    }

    /// A service with a dynamic characteristic that has all properties, a static one and an indicating one.
    static let service = ServiceDefinition(
        id: attribute(1), uuid: "C0DE",
        characteristics: [
            ServiceDefinition.Characteristic(
                id: attribute(2), uuid: "C0D1", properties: [.read, .write, .writeWithoutResponse, .notify],
                permissions: [.readable, .writeable]),
            ServiceDefinition.Characteristic(
                id: attribute(3), uuid: "C0D2", properties: [.read], permissions: [.readable],
                staticValue: Data([1, 2, 3]),
                descriptors: [ServiceDefinition.Descriptor(id: attribute(4), uuid: "2901", value: Data("text".utf8))]),
            ServiceDefinition.Characteristic(
                id: attribute(5), uuid: "C0D3", properties: [.read, .write, .indicate], permissions: []),
            ServiceDefinition.Characteristic(
                id: attribute(6), uuid: "C0D4", properties: [.read, .write, .notifyEncryptionRequired],
                permissions: [.readEncryptionRequired, .writeEncryptionRequired]),
        ])

    static let advertisement = Advertisement(localName: "Mine", serviceUUIDs: ["C0DE"])

    /// Powers on, publishes ``service`` and advertises it.
    func publish(_ service: ServiceDefinition = PeripheralFixture.service) async throws {
        try await powerOn()
        let events = try await run(
            .addService(operation: op(1), service: service),
            .startAdvertising(operation: op(2), advertisement: Self.advertisement))
        try #require(events == [.serviceAdded(operation: op(1)), .advertisingStarted(operation: op(2))])
    }

    /// Returns the device that the managers of a host form.
    static func device(_ emulator: Emulator, host: String = "peripheral 1") throws -> EmulatedDevice {
        try #require(emulator.host(named: host)?.peripheral)
    }
}

extension PeripheralEvent {
    var isRequest: Bool {
        switch self {
        case .readRequested, .writeRequested: true
        default: false
        }
    }
}

/// Creates an attribute number.
func attribute(_ number: UInt32) -> AttributeID { AttributeID(rawValue: number) }

/// A central and a peripheral manager that are connected and know each other.
struct ConnectedPair {
    let central: Fixture
    let peripheral: PeripheralFixture
    let device: EmulatedDevice
    let link: LinkID
    let attributes: Attributes

    init(
        _ configuration: EmulatorConfiguration = .instant, service: ServiceDefinition = PeripheralFixture.service,
        emulator: Emulator? = nil
    )
        async throws
    {
        central = Fixture(configuration, emulator: emulator)
        peripheral = PeripheralFixture(central.emulator)
        try await peripheral.publish(service)
        try await central.powerOn()
        device = try PeripheralFixture.device(central.emulator)
        link = try await central.connect(device)
        attributes = try await central.attributes(link)
    }

    var emulator: Emulator { central.emulator }
    /// The dynamic characteristic, which has all properties.
    var dynamic: AttributeID { get throws { try attributes.characteristic("C0D1") } }

    /// The central's identifier at the peripheral, from the peripheral's events.
    var centralID: PeerID? {
        peripheral.events.lazy.compactMap { event -> PeerID? in
            switch event {
            case .subscribed(let central, _, _, _), .readRequested(_, let central, _, _, _),
                .writeRequested(_, let central, _, _, _):
                central
            default: nil
            }
        }.first
    }

    /// Subscribes to a characteristic.
    func subscribe(_ uuid: BluetoothUUID, _ isOn: Bool = true) async throws {
        let id = try attributes.characteristic(uuid)
        let events = try await central.run(.request(link: link, operation: op(77), .setNotifying(id, isOn)))
        try #require(events == [.response(link: link, operation: op(77), .notifying(isOn))])
    }
}
