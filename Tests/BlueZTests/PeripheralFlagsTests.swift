#if os(Linux)
import BluetoothBackend
import Testing

@testable import BlueZ

/// Properties and permissions as BlueZ's flags.
@Suite struct PeripheralFlagsTests {
    private func flags(_ properties: CharacteristicProperties, _ permissions: AttributePermissions = []) -> [String] {
        AttributeFlags.flags(
            of: ServiceDefinition.Characteristic(
                id: AttributeID(rawValue: 1), uuid: "2A37", properties: properties, permissions: permissions))
    }

    @Test func propertiesDecide() {
        #expect(flags([.read, .write]) == ["read", "write"])
        #expect(flags(.notify, .readable) == ["notify"])
        #expect(
            flags([.write, .writeWithoutResponse, .authenticatedSignedWrites])
                == ["write", "write-without-response", "authenticated-signed-writes"])
        #expect(flags([]) == [])
    }

    @Test func encryptionIsAFlagOfItsOwn() {
        #expect(flags([.read, .write], .readEncryptionRequired) == ["encrypt-read", "write"])
        #expect(flags([.read, .write], .writeEncryptionRequired) == ["read", "encrypt-write"])
        #expect(
            flags(.writeWithoutResponse, .writeEncryptionRequired) == ["encrypt-write", "write-without-response"])
        #expect(flags(.notifyEncryptionRequired) == ["notify", "encrypt-notify"])
        #expect(flags([.indicate, .indicateEncryptionRequired]) == ["indicate", "encrypt-indicate"])
    }
}
#endif
