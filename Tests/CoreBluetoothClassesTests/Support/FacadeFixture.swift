import BluetoothBackend
import Dispatch
import Foundation

@testable import CoreBluetoothClasses

/// A manager over a scripted backend, with a recorder as every delegate.
final class FacadeFixture {
    let backend = ScriptedBackend()
    let recorder = CallbackRecorder()
    let queue: DispatchQueue
    var manager: CBCentralManager?
    let peer = PeerID(UUID())
    let link = LinkID(rawValue: 1)

    init(queue: DispatchQueue = DispatchQueue(label: "facade fixture"), options: [String: Any]? = nil) {
        self.queue = queue
        manager = CBCentralManager(backend: .custom(backend), delegate: recorder, queue: queue, options: options)
    }

    var central: ScriptedCentral { backend.centrals[0] }

    /// Returns the peripheral, after a scan, disconnected.
    func discover() async -> CBPeripheral {
        await central.play(.stateChanged(.poweredOn))
        let manager = existing(manager)
        manager.scanForPeripherals(withServices: nil)
        await central.play(
            .discovered(Discovery(peer: peer, name: "peer", advertisement: Advertisement(), rssi: -50)))
        let peripheral = manager.core.peripheral(peer, name: nil)
        peripheral.delegate = recorder
        return peripheral
    }

    /// Returns the peripheral, connected.
    func connect(credits: Int = 2) async -> CBPeripheral {
        let peripheral = await discover()
        manager?.connect(peripheral)
        await linkUp(link, credits: credits)
        return peripheral
    }

    func linkUp(_ link: LinkID, credits: Int = 2) async {
        guard let connect = central.lastConnect else { return }
        await central.play(
            .connected(
                peer: connect.peer, link: link, operation: connect.operation,
                parameters: LinkParameters(mtu: 23, writeCredits: credits)))
    }

    /// Returns a characteristic of the connected peripheral, discovered.
    func characteristic(
        of peripheral: CBPeripheral, properties: CharacteristicProperties = [.read, .write, .notify]
    ) async -> CBCharacteristic {
        peripheral.discoverServices(nil)
        await central.play(
            .response(
                link: link, operation: existing(central.lastOperation),
                .services([ServiceRecord(id: AttributeID(rawValue: 1), uuid: "180F", isPrimary: true)])))
        let service = existing(peripheral.services?.first)
        peripheral.discoverCharacteristics(nil, for: service)
        await central.play(
            .response(
                link: link, operation: existing(central.lastOperation),
                .characteristics([
                    CharacteristicRecord(id: AttributeID(rawValue: 2), uuid: "2A19", properties: properties)
                ])))
        return existing(service.characteristics?.first)
    }
}

/// Returns the result of a step of the fixture; without it no test can continue.
private func existing<Value>(_ value: Value?, line: Int = #line) -> Value {
    guard let value else { preconditionFailure("FacadeFixture.swift:\(line): the step before made nothing") }
    return value
}
