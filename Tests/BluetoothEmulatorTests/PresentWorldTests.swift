import BluetoothBackend
import Foundation
import Testing

@testable import BluetoothEmulator

/// The description of the present world.
@Suite struct PresentWorldTests {
    /// A device that uses every part of a description.
    private static let sensor = PeripheralDescription(
        name: "Sensor",
        advertising: [
            AdvertisingDescription(AdvertisingData(localName: "Sensor", services: ["FFF0"]), interval: .seconds(1))
        ],
        services: [
            ServiceDescription("FFF0"),
            ServiceDescription(
                "FFF1", isPrimary: true, includes: ["FFF0"],
                characteristics: [
                    CharacteristicDescription(
                        "FFF2", [.read, .notify], value: Data([1]),
                        timer: .init(every: .seconds(2), values: [Data([1]), Data([2])]),
                        descriptors: [DescriptorDescription("2901", value: Data("Level".utf8))]),
                    CharacteristicDescription("FFF3", [.read], permissions: [.readEncryptionRequired]),
                    CharacteristicDescription("FFF4", [.write], maximumLength: 4, echo: true),
                    CharacteristicDescription("FFF5", [.notify], clientConfiguration: false),
                ]),
        ],
        pairing: PairingDescription(capability: .displayOnly, passkey: 123_456),
        channels: [ChannelDescription(psm: 0x80, echo: true)], faults: [DeviceFault(.write, .fail(), skip: 1)])

    private static let world = WorldDescription(
        hosts: [HostDescription(name: "second", address: "00:11:22:33:44:55", isPowered: false)],
        devices: [sensor, BuiltInHandler.heartRate.device.named("Heart")], seed: 7, preset: .slow)

    @Test func anUnchangedWorldIsItsDescription() throws {
        let emulator = try Emulator(world: Self.world, time: .virtual)
        #expect(emulator.presentWorld == Self.world)
        #expect(Emulator(time: .virtual).presentWorld == WorldDescription(seed: 1))
    }

    @Test func whatWasChangedByHandIsInTheDescription() async throws {
        let emulator = try Emulator(world: Self.world, time: .virtual)
        let (sensor, heart) = (emulator.devices[0], emulator.devices[1])
        sensor.setProximity(.far)
        sensor.setRSSI(-80)
        sensor.rename("Lamp")
        sensor.setAdvertising(false)
        sensor.setValue(Data([9]), of: "FFF2")
        sensor.clearFaults()
        sensor.failNextConnections(2)
        try sensor.addService(ServiceDescription("180F"))
        heart.set(.heartRate, to: 1e9)
        emulator.host.setPower(false)
        try emulator.add(PeripheralDescription(name: "New"))
        try await emulator.advance(by: .seconds(1))

        var expected = Self.world
        expected.hosts.insert(HostDescription(name: "default", isPowered: false), at: 0)
        expected.devices[0].address = Self.sensor.effectiveAddress
        expected.devices[0].name = "Lamp"
        expected.devices[0].proximity = .far
        expected.devices[0].rssi = -80
        expected.devices[0].advertising[0].isEnabled = false
        expected.devices[0].services[1].characteristics[0].value = Data([9])
        expected.devices[0].services.append(ServiceDescription("180F"))
        expected.devices[0].faults = [DeviceFault(.connect, .fail(), count: 2)]
        expected.devices[1].parameters[.heartRate] = 65_535
        expected.devices.append(PeripheralDescription(name: "New"))
        #expect(emulator.presentWorld == expected)
        sensor.remove()
        try await emulator.advance(by: .zero)
        #expect(sensor.presentDescription == nil)
    }

    @Test func theDescriptionHasThePresetWhateverTheLengthOfTheTrace() {
        var configuration = EmulatorConfiguration.instant
        configuration.traceLimit = 10_000
        #expect(Emulator(configuration: configuration, time: .virtual).presentWorld.preset == .instant)
        configuration.rssiDeviation += 1
        #expect(Emulator(configuration: configuration, time: .virtual).presentWorld.preset == nil)
    }

    @Test func presentInterferenceIsAStepAtTheBeginning() async throws {
        let emulator = try Emulator(world: Self.world, time: .virtual)
        emulator.setInterference(0.25)
        try await emulator.advance(by: .seconds(1))
        #expect(emulator.presentWorld.script == [ScriptStep(at: .zero, .interference(0.25))])
        #expect(emulator.presentWorld.preset == Self.world.preset)
        emulator.setInterference(0)
        try await emulator.advance(by: .seconds(1))
        #expect(emulator.presentWorld == Self.world)
    }

    @Test func theDescriptionMakesAWorldFileAndTheSameWorld() throws {
        let present = try Emulator(world: Self.world, time: .virtual).presentWorld
        let read = try WorldDescription(json: present.json())
        #expect(try Emulator(world: read, time: .virtual).presentWorld == present)
    }

    @Test func theAttributesOfADeviceHaveTheirValuesAndSubscribers() async throws {
        let emulator = try Emulator(world: WorldDescription(devices: [Self.sensor], preset: .instant), time: .virtual)
        let fixture = Fixture(emulator: emulator)
        try await fixture.powerOn()
        let link = try await fixture.connect(emulator.devices[0])
        let level = try await fixture.attributes(link).characteristic("FFF2")
        _ = try await fixture.run(.request(link: link, operation: op(1), .setNotifying(level, true)))
        let attributes = try #require(emulator.devices[0].attributes)
        let found = try #require(attributes.services.last?.characteristics.first)
        #expect(attributes.services.map(\.uuid) == ["1800", "1801", "FFF0", "FFF1"])
        #expect(attributes.values[found.valueHandle] == Data([1]))
        #expect(attributes.values[try #require(found.descriptors.last).handle] == Data("Level".utf8))
        #expect(attributes.subscriberCounts == [found.valueHandle: 1])
    }
}
