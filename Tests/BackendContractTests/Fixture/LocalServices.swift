import CoreBluetooth
import Testing

/// The services that the app publishes in scenarios of the peripheral role.
enum LocalServices {
    /// Too long for one packet.
    static let longValue = Data((0..<400).map { UInt8($0 % 251) })

    /// Characteristics of every kind.
    static func main() -> CBMutableService {
        service(
            .served,
            [
                dynamic(.dynamic, [.read, .write], [.readable, .writeable]),
                constant(.constant, "static"),
                dynamic(.updating, [.read, .notify], .readable),
                dynamic(.updatingByIndication, .indicate, []),
                dynamic(.commandOnly, .writeWithoutResponse, .writeable),
                dynamic(.locked, [.read, .write], []),
                dynamic(.protected, [.read, .write], [.readEncryptionRequired, .writeEncryptionRequired]),
                dynamic(.protectedUpdating, [.notify, .notifyEncryptionRequired], []),
                dynamic(.dynamicWriteOnly, .write, .writeable),
            ])
    }

    /// A service with one static characteristic, whose value is a text.
    static func small(
        _ uuid: ContractAttribute = .served, _ characteristic: ContractAttribute = .constant, _ text: String = "one"
    ) -> CBMutableService {
        service(uuid, [constant(characteristic, text)])
    }

    /// Another service.
    static func other() -> CBMutableService { small(.other, .otherValue, "two") }

    static func service(_ uuid: ContractAttribute, _ characteristics: [CBMutableCharacteristic]) -> CBMutableService {
        let service = CBMutableService(type: CBUUID(uuid), primary: true)
        service.characteristics = characteristics
        return service
    }

    static func dynamic(
        _ uuid: ContractAttribute, _ properties: CBCharacteristicProperties, _ permissions: CBAttributePermissions
    ) -> CBMutableCharacteristic {
        CBMutableCharacteristic(
            type: CBUUID(uuid), properties: properties, value: nil, permissions: permissions)
    }

    static func constant(_ uuid: ContractAttribute, _ text: String) -> CBMutableCharacteristic {
        CBMutableCharacteristic(
            type: CBUUID(uuid), properties: .read, value: Data(text.utf8), permissions: .readable)
    }
}

extension CBMutableService {
    /// Returns a characteristic by name.
    func mutable(_ name: ContractAttribute) throws -> CBMutableCharacteristic {
        try #require(try characteristic(name) as? CBMutableCharacteristic)
    }
}
