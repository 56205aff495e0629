import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// Version-dependent interfaces, as a client on a private bus sees them.
@Suite struct InterfacesOnBusTests {
    @Test func aClientProvidesTheBatteryOfADevice() async throws {
        let device = PeripheralDescription(
            name: "Headset", address: "C0:DE:00:00:00:01",
            advertising: [AdvertisingDescription(AdvertisingData(localName: "Headset"))],
            services: [ServiceDescription("FFE0", characteristics: [])])
        let fixture = try await ServedFixture(WorldDescription(devices: [device]), dialect: .bluez5_82)
        let path = ObjectPath.hci0.appending("dev_C0_DE_00_00_00_01")
        let client = try await fixture.client(finding: path)
        try await fixture.connect(client, to: path)
        let provider = try await BusClient(fixture.bus)
        let object = ObjectPath.constant("/batteries/one")
        let properties: [String: DBusValue] = [
            "Device": .objectPath(path), "Percentage": .byte(42), "Source": .string("HFP 1.7"),
        ]
        _ = provider.export(.managedObjects([object: [BatteryProvider.interface: properties]]))
        try await provider.call(
            "RegisterBatteryProvider", .objectPath(.constant("/batteries")), on: .hci0, "BatteryProviderManager1")
        try await client.wait { try await client.objects().contains { $0.interfaces["org.bluez.Battery1"] != nil } }
        #expect(try await client.get("Percentage", of: "Battery1", at: path) == .byte(42))
        #expect(try await client.get("Source", of: "Battery1", at: path) == .string("HFP 1.7"))
        try provider.send(
            "PropertiesChanged", of: "Properties", at: object, .string(BatteryProvider.interface),
            .properties(["Percentage": .byte(41)]), .strings([]))
        try await client.wait { try await client.get("Percentage", of: "Battery1", at: path) == .byte(41) }
        provider.close()
        try await client.wait { try await !client.objects().contains { $0.interfaces["org.bluez.Battery1"] != nil } }
        fixture.service.stop()
    }

    @Test func theAppearanceInGenericAccessIsShown() async throws {
        func appearance(_ characteristic: CharacteristicDescription) async throws -> (DBusValue?, DBusValue?) {
            let device = PeripheralDescription(
                name: "Mouse", address: "C0:DE:00:00:00:01",
                advertising: [AdvertisingDescription(AdvertisingData(localName: "Mouse"))],
                services: [
                    ServiceDescription("1800", characteristics: [characteristic]),
                    ServiceDescription(
                        "180F", characteristics: [CharacteristicDescription("2A19", .read, value: Data([7]))]),
                ])
            let fixture = try await ServedFixture(WorldDescription(devices: [device]))
            let path = ObjectPath.hci0.appending("dev_C0_DE_00_00_00_01")
            let client = try await fixture.client(finding: path)
            try await fixture.connect(client, to: path)
            // The battery is read at the same time as the appearance.
            try await client.wait { try await client.objects().contains { $0.interfaces["org.bluez.Battery1"] != nil } }
            let shown = try await client.objects().first { $0.path == path }?.interfaces["org.bluez.Device1"]
            fixture.service.stop()
            return (shown?["Appearance"], shown?["Icon"])
        }
        let value = Data([0xC2, 0x03])
        let known = try await appearance(CharacteristicDescription("2A01", .read, value: value))
        #expect(known.0 == .uint16(0x03C2) && known.1 == .string("input-mouse"))
        let hidden = try await appearance(
            CharacteristicDescription("2A01", .read, value: value, permissions: .readEncryptionRequired))
        #expect(hidden.0 == nil && hidden.1 == nil)
    }

    @Test func theEndOfALinkIsExplainedIn5_87() async throws {
        let fixture = try await ServedFixture(dialect: .bluez5_87, isExperimental: true)
        let client = try await fixture.client()
        let reasons = Lock<[String]>([])
        let subscription = client.connection.subscribe(
            DBusMatchRule(sender: "org.bluez", interface: "org.bluez.Device1", member: "Disconnected")
        ) { message in
            guard case .success(let values) = Result<DBusMessage, DBusError>.success(message).values else { return }
            reasons.withLock { $0.append(values.compactMap(\.stringValue).joined(separator: ": ")) }
        }
        try await client.call("Connect", on: .monitor, "Bearer.LE1")
        try await client.wait { try await client.get("Connected", of: "Bearer.LE1", at: .monitor) == .boolean(true) }
        try await client.call("Disconnect", on: .monitor, "Bearer.LE1")
        try await client.wait { try await client.get("Connected", of: "Device1", at: .monitor) == .boolean(false) }
        #expect(reasons.withLock { $0 } == ["org.bluez.Reason.Local: Connection terminated by local host"])
        try await fixture.connect(client)
        fixture.emulator.devices.first { $0.name == "Heart Rate Monitor" }?.disconnect()
        try await client.wait { try await client.get("Connected", of: "Device1", at: .monitor) == .boolean(false) }
        #expect(reasons.withLock { $0.last } == "org.bluez.Reason.Remote: Connection terminated by remote user")
        withExtendedLifetime(subscription) {}
        fixture.service.stop()
    }
}
