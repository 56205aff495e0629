import BluetoothBackend
import Foundation
import Testing

@testable import BluetoothEmulator

/// Entries of a world file that describe several devices, and devices with the same name.
@Suite struct DeviceGroupTests {
    private func world(_ json: String) throws -> WorldDescription { try WorldDescription(json: Data(json.utf8)) }

    private func mistake(_ json: String) -> String? {
        #expect(throws: DescriptionError.self) { try world(json) }?.description
    }

    @Test func theNumberOfADeviceIsInItsNames() throws {
        let world = try world(
            #"""
            {"devices": [{"name": "Tag {n}", "count": 3, "rssi": -70, "advertising": [
              {"data": {"localName": "T{n}"}, "scanResponse": {"localName": "Tag {n}"}}]}, {"name": "Lamp {n}"}]}
            """#)
        #expect(world.devices.map(\.name) == ["Tag 1", "Tag 2", "Tag 3", "Lamp {n}"])
        let sets = world.devices.flatMap(\.advertising)
        #expect(sets.map(\.data.localName) == ["T1", "T2", "T3"])
        #expect(sets.map(\.scanResponse?.localName) == ["Tag 1", "Tag 2", "Tag 3"])
        #expect(world.devices.map(\.rssi) == [-70, -70, -70, nil])
        #expect(try WorldDescription(json: world.json()) == world)
    }

    @Test func theAddressesFollowFromTheNamesOrCountUp() throws {
        let byName = try world(#"{"devices": [{"name": "Tag {n}", "count": 2}]}"#)
        let alone = try world(#"{"devices": [{"name": "Tag 2"}]}"#)
        #expect(byName.devices.last?.effectiveAddress == alone.devices.first?.effectiveAddress)
        let given = try world(#"{"devices": [{"name": "A", "count": 2, "address": "C0:00:00:00:00:FF"}]}"#)
        #expect(given.devices.map(\.effectiveAddress.description) == ["C0:00:00:00:00:FF", "C0:00:00:00:01:00"])
    }

    @Test func devicesOfOneNameHaveAddressesOfTheirOwn() throws {
        let world = try world(#"{"devices": [{"name": "A"}, {"name": "A"}, {"name": "A", "count": 2}]}"#)
        let addresses = world.addressedDevices.map(\.effectiveAddress)
        #expect(Set(addresses).count == 4)
        #expect(addresses.first == PeripheralDescription(name: "A").effectiveAddress)
        #expect(try Emulator(world: world, time: .virtual).devices.map(\.name) == ["A", "A", "A", "A"])
    }

    @Test func aBuiltInDeviceIsCountedToo() throws {
        let world = try world(#"{"devices": [{"name": "Heart {n}", "count": 2, "handler": "heart-rate"}]}"#)
        let sets = world.devices.compactMap(\.advertising.first)
        #expect(sets.map { $0.data.localName ?? $0.scanResponse?.localName } == ["Heart 1", "Heart 2"])
    }

    @Test func aNameThatSeveralDevicesHaveIsNoReference() {
        let error = mistake(
            #"""
            {"hosts": [{"name": "h", "centrals": [{"identifier": "a", "peers": [{"device": "A"}]}]}],
             "devices": [{"name": "A", "count": 4, "address": "C0:00:00:00:00:01"}]}
            """#)
        #expect(
            error == "hosts[0].centrals[0].peers[0].device: 4 devices are named \"A\": name one by its address, "
                + "C0:00:00:00:00:01, C0:00:00:00:00:02, C0:00:00:00:00:03 and others")
    }

    @Test func anAddressIsAReferenceToOneOfThem() async throws {
        let world = try world(
            #"""
            {"preset": "instant",
             "hosts": [{"name": "default", "centrals": [{"identifier": "a", "peers": [{"device": "C0:00:00:00:00:02"}]}]}],
             "devices": [{"name": "A", "count": 3, "address": "C0:00:00:00:00:01", "advertising": [{}]}]}
            """#)
        let emulator = try Emulator(world: world, time: .virtual)
        try await emulator.advance(by: .seconds(1))
        #expect(emulator.devices.map(\.connectionCount) == [0, 1, 0])
    }

    @Test(arguments: [
        (#"{"devices": [{"name": "A", "count": 0}]}"#, "devices[0].count: the number of devices is 1...10000"),
        (#"{"devices": [{"name": "A", "count": 10001}]}"#, "devices[0].count: the number of devices is 1...10000"),
        (
            #"{"devices": [{"name": "A", "count": "2"}]}"#,
            "devices[0].count: \"2\" is text, and a number is wanted here: write 2"
        ),
        (
            #"{"devices": [{"name": "A", "count": 9999}, {"name": "B", "count": 2}]}"#,
            "devices: a world has 10000 devices or fewer"
        ),
        (
            #"{"devices": [{"name": "A", "count": 9}, {"name": "B", "rssi": 99}]}"#,
            "devices[1].rssi: the signal strength is -127...20 dBm"
        ),
        (
            #"{"devices": [{"name": "A", "count": 9, "maximumMTU": 1}]}"#,
            "devices[0].maximumMTU: the ATT MTU is 23...517"
        ),
        (
            #"{"devices": [{"name": "A", "address": "C0:00:00:00:00:02"}, {"name": "B", "count": 3, "address": "C0:00:00:00:00:01"}]}"#,
            "devices[1].address: another device has the address C0:00:00:00:00:02"
        ),
    ])
    func anImpossibleCountIsAMistake(json: String, message: String) {
        #expect(mistake(json) == message)
    }
}
