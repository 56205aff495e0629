#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import FoundationEssentials
import Testing

@testable import BlueZ

@Suite struct ObjectModelTests {
    private typealias Fixture = CentralRoleFixture
    private let objects = ObjectModel()

    @Test func anAddedDeviceHasItsProperties() {
        let changes = objects.changes(
            by: .interfacesAdded(
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
                                    key: .string("0000180f-0000-1000-8000-00805f9b34fb"),
                                    value: .variant(.bytes([0x64])))
                            ])),
                    "Unknown": .byte(1),
                ])))
        #expect(changes == [.deviceAdded(Fixture.device)])
        let advertisement = objects.devices[Fixture.device]?.advertisement
        #expect(objects.devices[Fixture.device]?.name == "Heart")
        #expect(advertisement?.txPowerLevel == 4)
        #expect(advertisement?.serviceUUIDs?.map(\.text) == ["180D"])
        #expect(advertisement?.manufacturerData == Data([0x4C, 0, 2, 21]))
        #expect(advertisement?.serviceData == [BluetoothUUID(0x180F): Data([0x64])])
        #expect(objects.devices[Fixture.device]?.rssi == -61)
    }

    /// BlueZ keeps the entries of earlier packets.
    @Test func theNewestManufacturerDataCounts() {
        _ = objects.changes(
            by: .interfacesAdded(
                Fixture.device, Fixture.deviceObject(["ManufacturerData": Self.manufacturerData([1: [1], 9: [9]])])))
        _ = objects.changes(
            by: .propertiesChanged(
                Fixture.device, "org.bluez.Device1",
                ["ManufacturerData": Self.manufacturerData([1: [7], 9: [9]])], removed: []))
        #expect(objects.devices[Fixture.device]?.advertisement.manufacturerData == Data([1, 0, 7]))
        _ = objects.changes(
            by: .propertiesChanged(
                Fixture.device, "org.bluez.Device1",
                ["ManufacturerData": Self.manufacturerData([1: [7], 9: [9]])], removed: []))
        #expect(objects.devices[Fixture.device]?.advertisement.manufacturerData == Data([1, 0, 7]))
    }

    @Test func solicitedServicesComeFromTheAdvertisingData() {
        let data = DBusValue.dictionary(
            .init(
                keyType: .byte, valueType: .variant,
                entries: [
                    .init(key: .byte(0x14), value: .variant(.bytes([0x0D, 0x18, 0x0F, 0x18, 0xFF]))),
                    .init(key: .byte(0x01), value: .variant(.bytes([6]))),
                ]))
        _ = objects.changes(by: .interfacesAdded(Fixture.device, Fixture.deviceObject(["AdvertisingData": data])))
        #expect(objects.devices[Fixture.device]?.advertisement.solicitedServiceUUIDs?.map(\.text) == ["180D", "180F"])
    }

    @Test func aRemovedPropertyIsGoneAndNoReport() {
        _ = objects.changes(by: .interfacesAdded(Fixture.device, Fixture.deviceObject(["RSSI": .int16(-61)])))
        let changes = objects.changes(
            by: .propertiesChanged(Fixture.device, "org.bluez.Device1", [:], removed: ["RSSI"]))
        #expect(changes == [])
        #expect(objects.devices[Fixture.device]?.rssi == nil)
    }

    @Test func aPropertyOfTheWrongTypeIsReportedAndIgnored() {
        _ = objects.changes(by: .interfacesAdded(Fixture.device, Fixture.deviceObject(["RSSI": .int16(-61)])))
        let changes = objects.changes(
            by: .propertiesChanged(
                Fixture.device, "org.bluez.Device1",
                ["RSSI": .string("loud"), "Connected": .int16(1), "Address": .byte(0), "ManufacturerData": .byte(3)],
                removed: []))
        #expect(
            changes
                == ["Address", "Connected", "ManufacturerData", "RSSI"].map {
                    .malformed(Fixture.device, property: "org.bluez.Device1.\($0)")
                })
        #expect(objects.devices[Fixture.device]?.rssi == -61)
        #expect(objects.devices[Fixture.device]?.isConnected == false)
    }

    @Test func aChangeOfAnUnknownObjectIsIgnored() {
        #expect(
            objects.changes(
                by: .propertiesChanged(Fixture.device, "org.bluez.Device1", ["RSSI": .int16(1)], removed: [])) == [])
        #expect(
            objects.changes(
                by: .propertiesChanged(
                    Fixture.characteristic, "org.bluez.GattCharacteristic1", ["Value": .bytes([1])], removed: []))
                == [])
        #expect(
            objects.changes(by: .interfacesRemoved(Fixture.device, ["org.bluez.Device1", "org.example.Other"])) == [])
        #expect(objects.devices.isEmpty)
    }

    @Test func attributesAreListedInHandleOrder() {
        for handle in ["0030", "0010", "00a0", "001f"] {
            _ = objects.changes(
                by: .interfacesAdded(
                    Fixture.path(Fixture.device.text + "/service" + handle),
                    ["org.bluez.GattService1": ["UUID": .string("180d")]]))
        }
        #expect(
            objects.attributes(of: Fixture.device).map(\.lastElement) == [
                "service0010", "service001f", "service0030", "service00a0",
            ])
        #expect(objects.attributes(of: Fixture.device).map(\.handle) == [0x10, 0x1F, 0x30, 0xA0])
        _ = objects.changes(
            by: .interfacesRemoved(Fixture.path(Fixture.device.text + "/service0010"), ["org.bluez.GattService1"]))
        #expect(objects.attributes(of: Fixture.device).count == 3)
    }

    @Test func aValueIsAnEventAndAnInitialOneIsNot() {
        let object: DaemonMessage.Interfaces = [
            "org.bluez.GattCharacteristic1": ["Value": .bytes([1]), "UUID": .string("2a37")]
        ]
        #expect(objects.changes(by: .interfacesAdded(Fixture.characteristic, object)) == [])
        #expect(
            objects.changes(
                by: .propertiesChanged(
                    Fixture.characteristic, "org.bluez.GattCharacteristic1", ["Value": .bytes([2])], removed: []))
                == [.valueChanged(Fixture.characteristic, of: Fixture.device, Data([2]))])
    }

    @Test func aSnapshotRemovesWhatItDoesNotHold() throws {
        _ = objects.changes(by: .interfacesAdded(Fixture.adapter, Fixture.adapterObject()))
        _ = objects.changes(by: .interfacesAdded(Fixture.device, Fixture.deviceObject()))
        for (path, object) in Fixture.attributes() { _ = objects.changes(by: .interfacesAdded(path, object)) }
        let device = try #require(objects.devices[Fixture.device])
        let peer = try #require(objects.peer(at: Fixture.device))
        let changes = objects.changes(by: .snapshot([Fixture.adapter: Fixture.adapterObject(isPowered: false)]))
        #expect(
            Array(changes.prefix(3)) == [
                .attributeRemoved(Fixture.characteristic, of: Fixture.device),
                .serviceRemoved(Fixture.service, of: Fixture.device),
                .deviceRemoved(Fixture.device, device, peer),
            ])
        #expect(objects.adapters[Fixture.adapter]?.isPowered == false)
        #expect(objects.devices.isEmpty && objects.services.isEmpty && objects.characteristics.isEmpty)
    }

    @Test func aSnapshotOfWhatIsKnownIsNoChange() {
        var listed = [
            Fixture.adapter: Fixture.adapterObject(),
            Fixture.device: Fixture.deviceObject([
                "RSSI": .int16(-61), "Name": .string("Heart"), "Connected": .boolean(true), "TxPower": .int16(4),
                "UUIDs": .strings(["180d"]), "ManufacturerData": Self.manufacturerData([0x4C: [1]]),
            ]),
        ]
        for (path, object) in Fixture.attributes() { listed[path] = object }
        listed[Fixture.characteristic]?["org.bluez.GattCharacteristic1"]?["Value"] = .bytes([1])
        listed[Fixture.characteristic]?["org.bluez.GattCharacteristic1"]?["MTU"] = .uint16(247)
        #expect(objects.changes(by: .snapshot(listed)).count == 4)
        #expect(objects.changes(by: .snapshot(listed)) == [])
        listed[Fixture.device]?["org.bluez.Device1"]?["Name"] = .string("Lung")
        listed[Fixture.device]?["org.bluez.Device1"]?["ServicesResolved"] = .boolean(true)
        listed[Fixture.characteristic]?["org.bluez.GattCharacteristic1"]?["MTU"] = .uint16(185)
        #expect(
            objects.changes(by: .snapshot(listed)) == [
                .deviceChanged(Fixture.device, [.name, .servicesResolved]), .mtuChanged(of: Fixture.device, 185),
            ])
    }

    // MARK: Identifiers

    @Test func aDeviceThatIsReportedBeforeItsAdapterIsIdentifiedWithIt() {
        _ = objects.changes(by: .interfacesAdded(Fixture.device, Fixture.deviceObject()))
        #expect(objects.peer(at: Fixture.device) == nil)
        _ = objects.changes(by: .interfacesAdded(Fixture.adapter, Fixture.adapterObject()))
        #expect(objects.peer(at: Fixture.device).flatMap(objects.path) == Fixture.device)
    }

    @Test func anIdentifierOutlivesDeviceAdapterAndDaemon() throws {
        let known: [ObjectPath: DaemonMessage.Interfaces] = [
            Fixture.adapter: Fixture.adapterObject(), Fixture.device: Fixture.deviceObject(["Name": .string("Heart")]),
        ]
        _ = objects.changes(by: .snapshot(known))
        let peer = try #require(objects.peer(at: Fixture.device))
        let losses: [DaemonMessage] = [
            .interfacesRemoved(Fixture.device, [Device1.interface]),
            .interfacesRemoved(Fixture.adapter, [Adapter1.interface]), .phase(.lost),
        ]
        for loss in losses {
            _ = objects.changes(by: loss)
            #expect(objects.path(of: peer) == nil)
            #expect(objects.directory(of: "00:11:22:33:44:55").summary(of: peer)?.name == "Heart")
            _ = objects.changes(by: .phase(.lost))
            _ = objects.changes(by: .snapshot(known))
            #expect(objects.peer(at: Fixture.device) == peer)
        }
    }

    @Test func anAdapterWithAnotherAddressHasOtherIdentifiers() throws {
        _ = objects.changes(
            by: .snapshot([Fixture.adapter: Fixture.adapterObject(), Fixture.device: Fixture.deviceObject()]))
        let peer = try #require(objects.peer(at: Fixture.device))
        _ = objects.changes(
            by: .propertiesChanged(Fixture.adapter, Adapter1.interface, ["Address": .string("00:11:22:33:44:66")]))
        let other = try #require(objects.peer(at: Fixture.device))
        #expect(other != peer && objects.path(of: peer) == nil && objects.path(of: other) == Fixture.device)
    }

    @Test func aNameThatThePeerIsNotCalledByIsNoChangeOfIt() {
        let object = Fixture.deviceObject(["Name": .string("Own"), "Connected": .boolean(true)])
        _ = objects.changes(by: .snapshot([Fixture.adapter: Fixture.adapterObject(), Fixture.device: object]))
        // The name is advertised after the link has ended, and the GAP Device Name is kept.
        let advertised: [String: DBusValue] = ["Connected": .boolean(false), "Name": .string("Advertised")]
        #expect(
            objects.changes(by: .propertiesChanged(Fixture.device, Device1.interface, advertised))
                == [.deviceChanged(Fixture.device, [.connected, .advertisement])])
    }

    @Test func manufacturerDataOfAnotherShapeIsMalformed() {
        let object = Fixture.deviceObject(["ManufacturerData": .properties(["a": .byte(1)])])
        #expect(
            objects.changes(by: .interfacesAdded(Fixture.device, object)) == [
                .deviceAdded(Fixture.device),
                .malformed(Fixture.device, property: "org.bluez.Device1.ManufacturerData"),
            ])
        #expect(objects.devices[Fixture.device]?.advertisement.manufacturerData == nil)
    }

    @Test func contentsAreTheChangesFromAnEmptyModel() {
        _ = objects.changes(by: .interfacesAdded(Fixture.adapter, Fixture.adapterObject()))
        _ = objects.changes(by: .interfacesAdded(Fixture.device, Fixture.deviceObject()))
        for (path, object) in Fixture.attributes() { _ = objects.changes(by: .interfacesAdded(path, object)) }
        #expect(
            objects.contents == [
                .adapterAdded(Fixture.adapter), .deviceAdded(Fixture.device),
                .serviceAdded(Fixture.service, of: Fixture.device),
            ])
    }

    /// An unknown interface is not decoded, whatever its properties are.
    @Test func unknownInterfacesChangeNothing() {
        let object: DaemonMessage.Interfaces = ["org.example.Other": ["Value": .properties(["a": .byte(1)])]]
        #expect(objects.changes(by: .interfacesAdded(Fixture.device, object)) == [])
        #expect(objects.changes(by: .propertiesChanged(Fixture.device, "org.example.Other", [:])) == [])
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
