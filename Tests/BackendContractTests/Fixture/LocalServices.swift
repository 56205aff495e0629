import CoreBluetooth
import Testing

/// What the app publishes in scenarios of the peripheral role.
enum LocalServices {
    /// C0DE1000: characteristics of every kind.
    static func main() -> CBMutableService {
        service(
            "C0DE1000",
            [
                dynamic("C0DE1001", [.read, .write], [.readable, .writeable]),
                constant("C0DE1002", "static"),
                dynamic("C0DE1003", [.read, .notify], .readable),
                dynamic("C0DE1004", .indicate, []),
                dynamic("C0DE1005", .writeWithoutResponse, .writeable),
                dynamic("C0DE1006", [.read, .write], []),
                dynamic("C0DE1007", [.read, .write], [.readEncryptionRequired, .writeEncryptionRequired]),
                dynamic("C0DE1008", [.notify, .notifyEncryptionRequired], []),
                dynamic("C0DE1009", .write, .writeable),
            ])
    }

    /// A service with one static characteristic, whose value is a text.
    static func small(_ uuid: String, _ characteristic: String, _ text: String) -> CBMutableService {
        service(uuid, [constant(characteristic, text)])
    }

    static func service(_ uuid: String, _ characteristics: [CBMutableCharacteristic]) -> CBMutableService {
        let service = CBMutableService(type: CBUUID(contract: uuid), primary: true)
        service.characteristics = characteristics
        return service
    }

    static func dynamic(
        _ uuid: String, _ properties: CBCharacteristicProperties, _ permissions: CBAttributePermissions
    ) -> CBMutableCharacteristic {
        CBMutableCharacteristic(
            type: CBUUID(contract: uuid), properties: properties, value: nil, permissions: permissions)
    }

    static func constant(_ uuid: String, _ text: String) -> CBMutableCharacteristic {
        CBMutableCharacteristic(
            type: CBUUID(contract: uuid), properties: .read, value: Data(text.utf8), permissions: .readable)
    }
}

extension CBMutableService {
    /// One of its characteristics by the suite's short UUID.
    func mutable(_ uuid: String) throws -> CBMutableCharacteristic {
        try #require(try characteristic(uuid) as? CBMutableCharacteristic)
    }
}
