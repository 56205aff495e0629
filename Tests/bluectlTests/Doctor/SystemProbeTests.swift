#if BlueZ && os(Linux)
import BlueZ
import BluetoothDBus
import Testing

@testable import bluectl

struct SystemProbeTests {
    private func objects(_ entries: [(String, [(String, DBusValue)])]) throws -> [DBusValue] {
        let interfaces = DBusType.dictionary(key: .string, value: .dictionary(key: .string, value: .variant))
        let dictionary = DBusDictionary(
            keyType: .objectPath, valueType: interfaces,
            entries: try entries.map { path, members in
                DBusDictionary.Entry(
                    key: .objectPath(try #require(ObjectPath(path))),
                    value: .dictionary(
                        DBusDictionary(
                            keyType: .string, valueType: .dictionary(key: .string, value: .variant),
                            entries: members.map { DBusDictionary.Entry(key: .string($0), value: $1) })))
            })
        return [.dictionary(dictionary)]
    }

    @Test func adaptersAreFoundAmongTheObjects() throws {
        let adapter = DBusValue.properties([
            "Address": .string("00:11:22:33:44:55"), "Powered": .boolean(true), "Discovering": .boolean(false),
            "Roles": .strings(["central"]), "Modalias": .string("usb:v1D6Bp0246d0557"),
        ])
        let reply = try objects([
            ("/org/bluez", [("org.bluez.AgentManager1", .properties([:]))]),
            ("/org/bluez/hci1", [("org.bluez.Adapter1", .properties([:]))]),
            ("/org/bluez/hci0", [("org.bluez.Adapter1", adapter), ("org.bluez.GattManager1", .properties([:]))]),
        ])
        #expect(
            SystemProbe.adapters(reply) == [
                SystemReport.Adapter(
                    name: "hci0", address: "00:11:22:33:44:55", isPowered: true, isDiscovering: false,
                    roles: ["central"], interfaces: ["org.bluez.Adapter1", "org.bluez.GattManager1"],
                    properties: ["Address", "Powered", "Discovering", "Roles", "Modalias"], daemonVersion: "5.87",
                    crashesOnServiceFilter: true),
                SystemReport.Adapter(name: "hci1", interfaces: ["org.bluez.Adapter1"]),
            ])
    }

    @Test func devicesAreFoundUnderTheirIdentifiers() throws {
        let adapter = try #require(ObjectPath("/org/bluez/hci0"))
        func device(_ address: String, isPaired: Bool) -> DBusValue {
            .properties([
                "Address": .string(address), "AddressType": .string("random"), "Alias": .string("A"),
                "Paired": .boolean(isPaired), "Adapter": .objectPath(adapter),
            ])
        }
        let reply = try objects([
            ("/org/bluez/hci0", [("org.bluez.Adapter1", .properties(["Address": .string("00:11:22:33:44:55")]))]),
            ("/org/bluez/hci0/dev_1", [("org.bluez.Device1", device("F0:F1:F2:F3:F4:F5", isPaired: true))]),
            ("/org/bluez/hci0/dev_2", [("org.bluez.Device1", device("F0:F1:F2:F3:F4:F6", isPaired: false))]),
        ])
        let identifier = PeerIdentity.identifier(
            adapter: "00:11:22:33:44:55", address: "F0:F1:F2:F3:F4:F5", isRandom: true)
        #expect(
            SystemProbe.devices(reply).first
                == KnownDevice(
                    device: DeviceRecord(identifier: identifier, address: "F0:F1:F2:F3:F4:F5", name: "A"),
                    isPaired: true, isConnected: false))
        #expect(SystemProbe.devices(reply).map(\.isPaired) == [true, false])
        #expect(SystemProbe.adapters(reply).map(\.name) == ["hci0"])
    }

    @Test func anAnswerOfAnotherShapeHasNoAdapters() {
        #expect(SystemProbe.adapters([]).isEmpty)
        #expect(SystemProbe.adapters([.string("surprise")]).isEmpty)
    }

    @Test func propertiesOfAnotherTypeAreUnknown() throws {
        let adapter = DBusValue.properties(["Address": .uint32(7), "Powered": .string("yes"), "Roles": .boolean(true)])
        let found = SystemProbe.adapters(try objects([("/org/bluez/hci0", [("org.bluez.Adapter1", adapter)])]))
        #expect(found.map(\.name) == ["hci0"])
        #expect(found.first?.address == nil)
        #expect(found.first?.isPowered == nil)
        #expect(found.first?.roles == nil)
    }
}
#endif
