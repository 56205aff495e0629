import BluetoothBackend
import Foundation

@testable import CoreBluetoothClasses

/// A machine after the usual first steps, for tests that begin later.
struct MachineFixture {
    static let peer = PeerID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
    static let other = PeerID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)))
    static let handle = PeerHandle(id: peer, generation: 1)
    static let date = Date(timeIntervalSinceReferenceDate: 1000)

    var machine = CentralStateMachine()
    let link = LinkID(rawValue: 7)

    /// Returns a machine that is powered on, with one known peripheral.
    static func poweredOn() -> MachineFixture {
        var fixture = MachineFixture()
        _ = fixture.machine.handle(.stateChanged(.poweredOn))
        fixture.machine.adopt(handle, name: "peer")
        return fixture
    }

    /// Returns a machine that is connecting to the peripheral.
    static func connecting() -> MachineFixture {
        var fixture = poweredOn()
        _ = fixture.machine.connect(handle, options: ConnectOptions(), startDelay: .zero)
        return fixture
    }

    /// Returns a machine that is connected to the peripheral: MTU 23, two write credits.
    static func connected() -> MachineFixture {
        var fixture = connecting()
        _ = fixture.machine.handle(fixture.connectedEvent)
        return fixture
    }

    /// The backend's answer to the pending connect.
    var connectedEvent: CentralEvent {
        .connected(
            peer: Self.peer, link: link, operation: operation,
            parameters: LinkParameters(mtu: 23, writeCredits: 2))
    }

    /// The operation of the pending connect.
    var operation: OperationID { machine.peer(Self.handle)?.connect ?? OperationID(rawValue: 0) }

    var state: CBPeripheralState? { machine.peer(Self.handle)?.state }

    func reference(_ id: UInt32) -> AttributeReference {
        AttributeReference(link: link, id: AttributeID(rawValue: id))
    }

    /// Reads an attribute, as `readValue(for:)` does.
    mutating func read(_ id: UInt32) -> OperationID {
        let attribute = reference(id)
        return operation(
            in: machine.request(Self.handle, .read(attribute.id), within: attribute))
    }

    /// Discovers services, as `discoverServices` does.
    mutating func discoverServices() -> OperationID {
        operation(
            in: machine.request(Self.handle, .discoverServices(nil)))
    }

    /// Writes a number of times without response.
    mutating func write(_ count: Int) {
        for _ in 0..<count {
            _ = machine.writeCommand(Self.handle, to: reference(1), properties: .writeWithoutResponse, Data([1]))
        }
    }

    /// Returns the app's callbacks for write credits.
    mutating func creditCallbacks(_ count: Int) -> [CentralCallback] {
        machine.handle(.writeCredits(link: link, count: count)).callbacks
    }

    /// Ends the link, and begins another one with a number of write credits.
    mutating func reconnected(credits: Int) -> LinkID {
        _ = machine.handle(.disconnected(link: link, reason: .remote, at: Self.date, isReconnecting: false))
        _ = machine.connect(Self.handle, options: ConnectOptions(), startDelay: .zero)
        let new = LinkID(rawValue: 8)
        _ = machine.handle(
            .connected(
                peer: Self.peer, link: new, operation: operation,
                parameters: LinkParameters(mtu: 23, writeCredits: credits)))
        return new
    }

    private func operation(in effects: [CentralEffect]) -> OperationID {
        for case .submit(let command) in effects {
            switch command {
            case .request(_, let operation, .read), .request(_, let operation, .discoverServices): return operation
            default: break
            }
        }
        return OperationID(rawValue: 0)
    }
}

extension [CentralEffect] {
    var callbacks: [CentralCallback] {
        compactMap { if case .callback(let callback) = $0 { callback } else { nil } }
    }

    var commands: [CentralCommand] {
        compactMap { if case .submit(let command) = $0 { command } else { nil } }
    }

    var misuses: [CentralMisuse] {
        compactMap { if case .misuse(let misuse) = $0 { misuse } else { nil } }
    }
}
