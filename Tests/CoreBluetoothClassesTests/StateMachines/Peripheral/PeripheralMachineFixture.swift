import BluetoothBackend
import Foundation

@testable import CoreBluetoothClasses

/// A peripheral machine after the usual first steps, for tests that begin later.
struct PeripheralMachineFixture {
    static let central = PeerID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
    static let other = PeerID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)))
    static let request = RequestID(rawValue: 9)

    var machine = PeripheralStateMachine()

    static func poweredOn() -> PeripheralMachineFixture {
        var fixture = PeripheralMachineFixture()
        _ = fixture.machine.handle(.stateChanged(.poweredOn))
        return fixture
    }

    /// Returns a machine with a published service that has one characteristic.
    static func published(
        _ characteristic: LocalService.Characteristic = characteristic()
    ) -> PeripheralMachineFixture {
        var fixture = poweredOn()
        fixture.publish(service(characteristics: [characteristic]))
        return fixture
    }

    static func service(
        _ key: UInt = 100, _ uuid: BluetoothUUID = "FFF0", included: [UInt] = [],
        characteristics: [LocalService.Characteristic] = []
    ) -> LocalService {
        LocalService(
            key: ObjectKey(rawValue: key), uuid: uuid, included: included.map { ObjectKey(rawValue: $0) },
            characteristics: characteristics)
    }

    static func characteristic(
        _ key: UInt = 101, _ uuid: BluetoothUUID = "FFF1",
        properties: CharacteristicProperties = [.read, .write, .notify],
        permissions: AttributePermissions = [.readable, .writeable], value: Data? = nil,
        descriptors: [LocalService.Descriptor] = []
    ) -> LocalService.Characteristic {
        LocalService.Characteristic(
            key: ObjectKey(rawValue: key), uuid: uuid, properties: properties, permissions: permissions, value: value,
            descriptors: descriptors)
    }

    /// Adds a service and answers for the backend.
    @discardableResult
    mutating func publish(_ service: LocalService) -> [PeripheralEffect] {
        let addition = machine.add(service)
        guard let operation = addition.operation else { return addition.effects }
        return machine.handle(.serviceAdded(operation: operation))
    }

    /// The identifier of an object.
    func id(_ key: UInt = 101) -> AttributeID {
        machine.database[ObjectKey(rawValue: key)] ?? AttributeID(rawValue: 0)
    }

    mutating func subscribe(
        _ central: PeerID = central, key: UInt = 101, mtu: Int = 23, credits: Int = 2
    ) -> [PeripheralEffect] {
        machine.handle(.subscribed(central: central, attribute: id(key), mtu: mtu, notifyCredits: credits))
    }

    mutating func unsubscribe(_ central: PeerID = central, key: UInt = 101) -> [PeripheralEffect] {
        machine.handle(.unsubscribed(central: central, attribute: id(key)))
    }

    mutating func update(
        _ value: [UInt8], key: UInt = 101, to centrals: Set<PeerID>? = nil
    ) -> (isQueued: Bool, effects: [PeripheralEffect]) {
        machine.updateValue(Data(value), of: ObjectKey(rawValue: key), "FFF1", to: centrals)
    }

    mutating func read(
        as request: RequestID = request, key: UInt = 101, offset: Int = 0, mtu: Int = 23
    ) -> [PeripheralEffect] {
        machine.handle(
            .readRequested(request: request, central: Self.central, attribute: id(key), offset: offset, mtu: mtu))
    }

    mutating func write(
        as request: RequestID = request, wantsResponse: Bool = true, _ parts: [(key: UInt, bytes: [UInt8])]
    ) -> [PeripheralEffect] {
        machine.handle(
            .writeRequested(
                request: request, central: Self.central, mtu: 23, wantsResponse: wantsResponse,
                parts: parts.map { WritePart(attribute: id($0.key), offset: 0, value: Data($0.bytes)) }))
    }

    mutating func respond(
        to request: RequestID = request, part: Int = 0, code: UInt8 = 0, _ value: [UInt8]? = nil
    ) -> [PeripheralEffect] {
        machine.respond(to: request, part: part, attCode: code, value: value.map { Data($0) })
    }
}

extension [PeripheralEffect] {
    var callbacks: [PeripheralCallback] {
        compactMap { if case .callback(let callback) = $0 { callback } else { nil } }
    }

    var commands: [PeripheralCommand] {
        compactMap { if case .submit(let command) = $0 { command } else { nil } }
    }

    var misuses: [PeripheralMisuse] {
        compactMap { if case .misuse(let misuse) = $0 { misuse } else { nil } }
    }

    var completions: [PeripheralCompletion] {
        compactMap { if case .complete(let completion) = $0 { completion } else { nil } }
    }
}
