import BluetoothBackend

@testable import CoreBluetoothPackage

/// Objects to hand to delegate methods directly.
enum TestObjects {
    /// A radio without an adapter.
    static let noRadio = CBBackendSelection.custom(UnavailableBackend(name: "none", reason: "for tests"))

    static func centralManager() -> CBCentralManager {
        CBCentralManager(backend: noRadio, delegate: nil, queue: DispatchQueue(label: "central manager"))
    }

    static func peripheral() -> CBPeripheral {
        let core = CentralCore(
            backend: UnavailableBackend(name: "none", reason: "for tests"), options: CentralOptions(),
            queue: DispatchQueue(label: "peripheral"))
        return CBPeripheral(core: core, handle: PeerHandle(id: PeerID(UUID()), generation: 1), name: nil)
    }
    static func central(mtu: Int = 23) -> CBCentral { CBCentral(identifier: UUID(), mtu: mtu) }
    static func service() -> CBMutableService { CBMutableService(type: CBUUID(string: "180D"), primary: true) }
    static func characteristic(_ uuid: String = "2A37") -> CBMutableCharacteristic {
        CBMutableCharacteristic(type: CBUUID(string: uuid), properties: .read, value: nil, permissions: .readable)
    }
    static func descriptor() -> CBMutableDescriptor {
        CBMutableDescriptor(type: CBUUID(string: "2901"), value: "a description")
    }
}
