import BluetoothBackend
import BluetoothEmulator
import Foundation
import Testing

/// A central that is connected to one built-in device and knows its database.
struct DeviceFixture {
    let fixture: Fixture
    let device: EmulatedDevice
    let link: LinkID
    let found: Attributes

    init(
        _ description: PeripheralDescription, _ configuration: EmulatorConfiguration = .instant
    ) async throws {
        try await self.init(EmulatedPeripheral(description), configuration)
    }

    init(_ peripheral: EmulatedPeripheral, _ configuration: EmulatorConfiguration = .instant) async throws {
        fixture = Fixture(configuration)
        device = try fixture.emulator.add(peripheral)
        try await fixture.powerOn()
        link = try await fixture.connect(device)
        found = try await fixture.attributes(link)
    }

    var emulator: Emulator { fixture.emulator }

    /// The result of a request: a value, an ATT error code, or nothing.
    enum Outcome: Equatable, Sendable {
        case value(Data)
        case written
        case refused(UInt8?)
        case ended(DisconnectReason)
        case silence
    }

    /// Drives until the world is idle, and returns the first answer.
    private func ask(_ command: CentralCommand) async throws -> Outcome {
        let events = try await fixture.run(command)
        for event in events {
            switch event {
            case .response(_, _, .value(let value)): return .value(value)
            case .response(_, _, .written), .response(_, _, .notifying): return .written
            case .response(_, _, .failure(let error)): return .refused(error.attCode)
            case .disconnected(_, let reason, _, _, _): return .ended(reason)
            default: continue
            }
        }
        return .silence
    }

    func read(_ uuid: BluetoothUUID, _ index: Int = 0) async throws -> Outcome {
        try await ask(.request(link: link, operation: op(1), .read(found.characteristic(uuid, index))))
    }

    func write(_ uuid: BluetoothUUID, _ bytes: [UInt8]) async throws -> Outcome {
        try await ask(
            .request(link: link, operation: op(2), .write(found.characteristic(uuid), Data(bytes))))
    }

    @discardableResult
    func subscribe(_ uuid: BluetoothUUID, _ isOn: Bool = true) async throws -> Outcome {
        try await ask(
            .request(link: link, operation: op(3), .setNotifying(found.characteristic(uuid), isOn)))
    }

    /// Returns the values of a characteristic that arrive while time advances, each as bytes.
    func values(_ uuid: BluetoothUUID, for time: Duration) async throws -> [[UInt8]] {
        let count = fixture.events.count
        try await emulator.advance(by: time)
        return try values(uuid, since: count)
    }

    /// Returns the values of a characteristic after the first `count` events.
    func values(_ uuid: BluetoothUUID, since count: Int) throws -> [[UInt8]] {
        let attribute = try found.characteristic(uuid)
        return fixture.events(from: count).compactMap { event in
            if case .valueNotified(_, attribute, let value) = event { [UInt8](value) } else { nil }
        }
    }
}
