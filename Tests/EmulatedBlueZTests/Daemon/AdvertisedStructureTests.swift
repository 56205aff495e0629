import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// Properties of a device that come from structures of its advertising packets.
@Suite struct AdvertisedStructureTests {
    private func properties(
        _ structures: [AdvertisingStructure]?, _ dialect: BlueZDialect, isConnectable: Bool = true
    ) -> ObjectTree.Properties {
        var fixture = DaemonFixture(EmulatedBlueZConfiguration(dialect: dialect))
        var discovery = DaemonFixture.discovery(isConnectable: isConnectable)
        discovery.advertisement.otherStructures = structures
        fixture.call("StartDiscovery")
        fixture.hear(discovery)
        return fixture.context.tree.properties(of: BlueZInterfaces.device, at: .constant(DaemonFixture.device)) ?? [:]
    }

    @Test(
        arguments: [
            (0x0040, "phone"), (0x03C1, "input-keyboard"), (0x03C8, "scanner"), (0x0341, nil),
        ] as [(UInt16, String?)])
    func anAppearanceHasAnIcon(_ appearance: UInt16, _ icon: String?) {
        let bytes = [UInt8(truncatingIfNeeded: appearance), UInt8(appearance >> 8)]
        let shown = properties([AdvertisingStructure(type: 0x19, data: Data(bytes))], .bluez5_66)
        #expect(shown["Appearance"] == .uint16(appearance))
        #expect(shown["Icon"]?.stringValue == icon)
    }

    @Test(arguments: [Data([0, 0]), Data([1])]) func anAppearanceThatSaysNothingIsNotShown(_ data: Data) {
        #expect(properties([AdvertisingStructure(type: 0x19, data: data)], .bluez5_66)["Appearance"] == nil)
    }

    @Test func aDeviceThatAdvertisesNoAppearanceIsAskedForIt() {
        var fixture = DaemonFixture(EmulatedBlueZConfiguration())
        fixture.call("StartDiscovery")
        fixture.hear()
        fixture.call("Connect", on: DaemonFixture.device, "org.bluez.Device1")
        fixture.becomeConnected()
        #expect(fixture.lines().last == "read appearance")
        fixture.handle(.appearanceRead(adapter: 0, DaemonFixture.peer, Data([0x40])))
        #expect(fixture.lines() == [])
        fixture.handle(.appearanceRead(adapter: 0, DaemonFixture.peer, Data([0x40, 0x00])))
        #expect(fixture.lines() == ["dev_C0_DE_00_00_18_0D Appearance=64 Icon=phone"])
        fixture.report(.disconnected(link: DaemonFixture.link, reason: .remote, at: Date(), isReconnecting: false))
        fixture.call("Connect", on: DaemonFixture.device, "org.bluez.Device1")
        fixture.becomeConnected()
        #expect(!fixture.lines().contains("read appearance"))
    }

    @Test func newerVersionsShowFlagsAndRawData() {
        let structures = [
            AdvertisingStructure(type: 0x01, data: Data([0x05])), AdvertisingStructure(type: 0x26, data: Data([1, 2])),
        ]
        let raw = DBusValue.byteArrays(.byte, [0x26: [1, 2]], key: DBusValue.byte)
        let shown = properties(structures, .bluez5_82)
        #expect(shown["AdvertisingFlags"] == .bytes([0x05]))
        #expect(shown["AdvertisingData"] == raw)
        #expect(properties(nil, .bluez5_82)["AdvertisingFlags"] == .bytes([0x06]))
        #expect(properties(nil, .bluez5_82, isConnectable: false)["AdvertisingFlags"] == nil)
        #expect(properties(structures, .bluez5_66)["AdvertisingFlags"] == nil)
        #expect(properties(structures, .bluez5_66)["AdvertisingData"] == nil)
    }
}
