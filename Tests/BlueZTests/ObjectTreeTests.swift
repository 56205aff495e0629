#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

@Suite struct ObjectTreeTests {
    private typealias Fixture = CentralRoleFixture
    private var tree = ObjectTree()

    @Test mutating func anAddedDeviceHasItsProperties() {
        let changes = tree.add(
            Fixture.device,
            Fixture.deviceObject([
                "Name": .string("Heart"), "RSSI": .int16(-61), "TxPower": .int16(4),
                "UUIDs": .strings(["0000180d-0000-1000-8000-00805f9b34fb", "nonsense"]),
                "ManufacturerData": Self.manufacturerData([0x004C: [2, 21]]),
                "ServiceData": .dictionary(
                    .init(
                        keyType: .string, valueType: .variant,
                        entries: [
                            .init(
                                key: .string("0000180f-0000-1000-8000-00805f9b34fb"), value: .variant(.bytes([0x64])))
                        ])),
                "Unknown": .byte(1),
            ]))
        #expect(changes == [.deviceAdded(Fixture.device)])
        let advertisement = tree.devices[Fixture.device]?.advertisement
        #expect(tree.devices[Fixture.device]?.name == "Heart")
        #expect(advertisement?.txPowerLevel == 4)
        #expect(advertisement?.serviceUUIDs?.map(\.text) == ["180D"])
        #expect(advertisement?.manufacturerData == Data([0x4C, 0, 2, 21]))
        #expect(advertisement?.serviceData == [BluetoothUUID(0x180F): Data([0x64])])
        #expect(tree.devices[Fixture.device]?.rssi == -61)
    }

    /// BlueZ keeps the entries of earlier packets.
    @Test mutating func theNewestManufacturerDataCounts() {
        _ = tree.add(
            Fixture.device, Fixture.deviceObject(["ManufacturerData": Self.manufacturerData([1: [1], 9: [9]])]))
        _ = tree.change(
            Fixture.device, "org.bluez.Device1",
            ["ManufacturerData": Self.manufacturerData([1: [7], 9: [9]])], removing: [])
        #expect(tree.devices[Fixture.device]?.manufacturerData == [1, 0, 7])
        _ = tree.change(
            Fixture.device, "org.bluez.Device1",
            ["ManufacturerData": Self.manufacturerData([1: [7], 9: [9]])], removing: [])
        #expect(tree.devices[Fixture.device]?.manufacturerData == [1, 0, 7])
    }

    @Test mutating func solicitedServicesComeFromTheAdvertisingData() {
        let data = DBusValue.dictionary(
            .init(
                keyType: .byte, valueType: .variant,
                entries: [
                    .init(key: .byte(0x14), value: .variant(.bytes([0x0D, 0x18, 0x0F, 0x18, 0xFF]))),
                    .init(key: .byte(0x01), value: .variant(.bytes([6]))),
                ]))
        _ = tree.add(Fixture.device, Fixture.deviceObject(["AdvertisingData": data]))
        #expect(tree.devices[Fixture.device]?.solicitedUUIDs?.map(\.text) == ["180D", "180F"])
    }

    @Test mutating func aRemovedPropertyIsGoneAndNoReport() {
        _ = tree.add(Fixture.device, Fixture.deviceObject(["RSSI": .int16(-61)]))
        let changes = tree.change(Fixture.device, "org.bluez.Device1", [:], removing: ["RSSI"])
        #expect(changes == [])
        #expect(tree.devices[Fixture.device]?.rssi == nil)
    }

    @Test mutating func aPropertyOfTheWrongTypeIsReportedAndIgnored() {
        _ = tree.add(Fixture.device, Fixture.deviceObject(["RSSI": .int16(-61)]))
        let changes = tree.change(
            Fixture.device, "org.bluez.Device1",
            ["RSSI": .string("loud"), "Connected": .int16(1), "Address": .byte(0), "ManufacturerData": .byte(3)],
            removing: [])
        #expect(
            changes
                == ["Address", "Connected", "ManufacturerData", "RSSI"].map {
                    .malformed(Fixture.device, property: "org.bluez.Device1.\($0)")
                })
        #expect(tree.devices[Fixture.device]?.rssi == -61)
        #expect(tree.devices[Fixture.device]?.isConnected == false)
    }

    @Test mutating func aChangeOfAnUnknownObjectIsIgnored() {
        #expect(tree.change(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(1)], removing: []) == [])
        #expect(
            tree.change(Fixture.characteristic, "org.bluez.GattCharacteristic1", ["Value": .bytes([1])], removing: [])
                == [])
        #expect(tree.remove(Fixture.device, ["org.bluez.Device1", "org.example.Other"]) == [])
        #expect(tree.devices.isEmpty)
    }

    @Test mutating func attributesAreListedInHandleOrder() {
        for handle in ["0030", "0010", "00a0", "001f"] {
            _ = tree.add(
                Fixture.path(Fixture.device.text + "/service" + handle),
                ["org.bluez.GattService1": ["UUID": .string("180d")]])
        }
        #expect(
            tree.attributes(of: Fixture.device).map(\.lastElement) == [
                "service0010", "service001f", "service0030", "service00a0",
            ])
        #expect(tree.attributes(of: Fixture.device).map(\.handle) == [0x10, 0x1F, 0x30, 0xA0])
        _ = tree.remove(Fixture.path(Fixture.device.text + "/service0010"), ["org.bluez.GattService1"])
        #expect(tree.attributes(of: Fixture.device).count == 3)
    }

    @Test mutating func aValueIsAnEventAndAnInitialOneIsNot() {
        let object: ObjectTree.Interfaces = [
            "org.bluez.GattCharacteristic1": ["Value": .bytes([1]), "UUID": .string("2a37")]
        ]
        #expect(tree.add(Fixture.characteristic, object) == [.characteristicAdded(Fixture.characteristic)])
        #expect(
            tree.change(Fixture.characteristic, "org.bluez.GattCharacteristic1", ["Value": .bytes([2])], removing: [])
                == [.valueChanged(Fixture.characteristic, [2])])
    }

    @Test mutating func aSnapshotRemovesWhatItDoesNotHold() throws {
        _ = tree.add(Fixture.adapter, Fixture.adapterObject())
        _ = tree.add(Fixture.device, Fixture.deviceObject())
        for (path, object) in Fixture.attributes() { _ = tree.add(path, object) }
        let device = try #require(tree.devices[Fixture.device])
        let changes = tree.replace(with: [Fixture.adapter: Fixture.adapterObject(isPowered: false)])
        #expect(
            Array(changes.prefix(3)) == [
                .characteristicRemoved(Fixture.characteristic), .serviceRemoved(Fixture.service),
                .deviceRemoved(Fixture.device, device),
            ])
        #expect(tree.adapters[Fixture.adapter]?.isPowered == false)
        #expect(tree.devices.isEmpty && tree.services.isEmpty && tree.characteristics.isEmpty)
    }

    @Test mutating func aSnapshotOfWhatIsKnownIsNoChange() {
        var objects = [
            Fixture.adapter: Fixture.adapterObject(),
            Fixture.device: Fixture.deviceObject([
                "RSSI": .int16(-61), "Name": .string("Heart"), "Connected": .boolean(true), "TxPower": .int16(4),
                "UUIDs": .strings(["180d"]), "ManufacturerData": Self.manufacturerData([0x4C: [1]]),
            ]),
        ]
        for (path, object) in Fixture.attributes() { objects[path] = object }
        objects[Fixture.characteristic]?["org.bluez.GattCharacteristic1"]?["Value"] = .bytes([1])
        objects[Fixture.characteristic]?["org.bluez.GattCharacteristic1"]?["MTU"] = .uint16(247)
        #expect(tree.replace(with: objects).count == 5)
        #expect(tree.replace(with: objects) == [])
        objects[Fixture.device]?["org.bluez.Device1"]?["Name"] = .string("Lung")
        objects[Fixture.device]?["org.bluez.Device1"]?["Connected"] = .boolean(false)
        objects[Fixture.characteristic]?["org.bluez.GattCharacteristic1"]?["MTU"] = .uint16(185)
        #expect(
            tree.replace(with: objects) == [
                .deviceChanged(Fixture.device, [.name, .connected]), .mtuChanged(Fixture.characteristic, 185),
            ])
    }

    @Test func manufacturerDataOfAnotherShapeIsMalformed() {
        var device = Device1()
        #expect(device.set("ManufacturerData", to: .properties(["a": .byte(1)])) == nil)
        #expect(device.manufacturerData == nil)
    }

    private static func manufacturerData(_ companies: [UInt16: [UInt8]]) -> DBusValue {
        .dictionary(
            .init(
                keyType: .uint16, valueType: .variant,
                entries: companies.sorted { $0.key < $1.key }.map {
                    .init(key: .uint16($0.key), value: .variant(.bytes($0.value)))
                }))
    }
}
#endif
