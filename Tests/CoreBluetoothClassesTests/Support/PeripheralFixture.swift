import BluetoothBackend
import Dispatch
import Foundation

@testable import CoreBluetoothClasses

/// A peripheral manager over a scripted backend, with a recorder as its delegate.
final class PeripheralFixture {
    let backend: ScriptedBackend
    let queue = DispatchQueue(label: "peripheral fixture")
    let recorder: PeripheralRecorder
    var manager: CBPeripheralManager
    let central = PeerID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
    let other = PeerID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)))
    let role: ScriptedPeripheral

    init(backend: ScriptedBackend = ScriptedBackend(), options: [String: Any]? = nil) {
        self.backend = backend
        recorder = PeripheralRecorder(queue: queue)
        manager = CBPeripheralManager(backend: .custom(backend), delegate: recorder, queue: queue, options: options)
        role = backend.peripherals[backend.peripherals.count - 1]
    }

    /// Returns a fixture that is powered on.
    static func poweredOn() async -> PeripheralFixture {
        let fixture = PeripheralFixture()
        await fixture.role.play(.stateChanged(.poweredOn))
        return fixture
    }

    /// Publishes a service with one characteristic, and answers.
    func publish(_ characteristic: CBMutableCharacteristic) async -> CBMutableService {
        let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
        service.characteristics = [characteristic]
        await publish(service)
        return service
    }

    /// Publishes a service, and answers.
    func publish(_ service: CBMutableService) async {
        manager.add(service)
        await answer()
    }

    /// Answers the last `add`.
    func answer() async {
        guard let operation = role.lastOperation else { return }
        await role.play(.serviceAdded(operation: operation))
    }

    /// Returns a characteristic whose values the app serves.
    static func dynamic(
        _ uuid: String = "FFF1",
        properties: CBCharacteristicProperties = [.read, .write, .writeWithoutResponse, .notify],
        permissions: CBAttributePermissions = [.readable, .writeable]
    ) -> CBMutableCharacteristic {
        CBMutableCharacteristic(
            type: CBUUID(string: uuid), properties: properties, value: nil, permissions: permissions)
    }

    /// The identifier of the characteristic with this number in the last service.
    func attribute(_ index: Int = 0) -> AttributeID {
        let characteristics = role.definitions.last?.characteristics ?? []
        return characteristics.indices.contains(index) ? characteristics[index].id : AttributeID(rawValue: 0)
    }

    /// Subscribes a central to a characteristic of the last service.
    func subscribe(_ central: PeerID? = nil, to index: Int = 0, mtu: Int = 23, credits: Int = 2) async {
        await role.play(
            .subscribed(
                central: central ?? self.central, attribute: attribute(index), mtu: mtu, notifyCredits: credits))
    }

    /// Reads a characteristic of the last service.
    func read(_ request: UInt64, at offset: Int = 0, mtu: Int = 23, index: Int = 0) async {
        await role.play(
            .readRequested(
                request: RequestID(rawValue: request), central: central, attribute: attribute(index), offset: offset,
                mtu: mtu))
    }

    /// Writes parts to characteristics of the last service: index, offset, bytes.
    func write(
        _ request: UInt64, _ parts: [(index: Int, offset: Int, bytes: [UInt8])], wantsResponse: Bool = true
    ) async {
        await role.play(
            .writeRequested(
                request: RequestID(rawValue: request), central: central, mtu: 23, wantsResponse: wantsResponse,
                parts: parts.map {
                    WritePart(attribute: attribute($0.index), offset: $0.offset, value: Data($0.bytes))
                }))
    }
}
