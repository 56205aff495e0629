import BluetoothBackend
import Foundation

@testable import CoreBluetoothClasses

/// Objects that tests pass directly to delegate methods.
enum TestObjects {
    /// A backend without an adapter, so that no test queries the system for one.
    static let noAdapter = CBBackendSelection.custom(UnavailableBackend(name: "none", reason: "for tests"))

    static func centralManager() -> CBCentralManager {
        CBCentralManager(backend: .custom(ScriptedBackend()), delegate: nil, queue: nil)
    }
    static func peripheral() -> CBPeripheral {
        centralManager().core.peripheral(PeerID(UUID()), name: nil)
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
