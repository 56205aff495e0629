@testable import CoreBluetoothPackage

/// Objects to hand to delegate methods directly.
enum TestObjects {
    static func centralManager() -> CBCentralManager { CBCentralManager(delegate: nil, queue: nil) }
    static func peripheral() -> CBPeripheral { CBPeripheral(identifier: UUID()) }
    static func central(mtu: Int = 23) -> CBCentral { CBCentral(identifier: UUID(), mtu: mtu) }
    static func service() -> CBMutableService { CBMutableService(type: CBUUID(string: "180D"), primary: true) }
    static func characteristic(_ uuid: String = "2A37") -> CBMutableCharacteristic {
        CBMutableCharacteristic(type: CBUUID(string: uuid), properties: .read, value: nil, permissions: .readable)
    }
    static func descriptor() -> CBMutableDescriptor {
        CBMutableDescriptor(type: CBUUID(string: "2901"), value: "a description")
    }
}
