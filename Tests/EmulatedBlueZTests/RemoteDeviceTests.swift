import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport
import Testing

@testable import EmulatedBlueZ

/// Devices as a client on a private bus uses them.
@Suite struct RemoteDeviceTests {
    private static let none = DBusValue.properties([:])
    private static let address: DeviceAddress = "C0:DE:00:00:00:01"
    private static let device = ObjectPath.hci0.appending("dev_C0_DE_00_00_00_01")

    /// The last read of a client returns its last write, even if the controller accepts the commands slowly.
    @Test func aReadFollowsTheWriteCommandsBeforeIt() async throws {
        let device = PeripheralDescription(
            name: "Box", address: Self.address,
            advertising: [AdvertisingDescription(AdvertisingData(localName: "Box"))],
            services: [
                ServiceDescription(
                    "FFE0",
                    characteristics: [
                        CharacteristicDescription("FFE1", [.read, .writeWithoutResponse], value: Data([0xFF]))
                    ])
            ])
        var configuration = EmulatorConfiguration.instant
        (configuration.connectionInterval, configuration.transmitBuffer) = (.milliseconds(8), 1)
        let fixture = try await ServedFixture(WorldDescription(devices: [device]), configuration: configuration)
        let client = try await fixture.client(finding: Self.device)
        try await fixture.connect(client, to: Self.device)
        let path = try #require(try await client.characteristic("ffe1", of: Self.device))
        let command = DBusValue.properties(["type": .string("command")])
        for byte: UInt8 in 0..<20 {
            try await client.call("WriteValue", .bytes([byte]), command, on: path, "GattCharacteristic1")
        }
        let value = try await client.call("ReadValue", Self.none, on: path, "GattCharacteristic1")
        #expect(value == [.bytes([19])])
        fixture.service.stop()
    }

    private static let described = PeripheralDescription(
        name: "Box", address: address, advertising: [AdvertisingDescription(AdvertisingData(localName: "Box"))],
        services: [
            ServiceDescription(
                "FFE0",
                characteristics: [
                    CharacteristicDescription(
                        "FFE1", [.read, .write], value: Data([1, 2, 3]),
                        descriptors: [
                            DescriptorDescription(
                                "2901", value: Data("text".utf8), permissions: [.readable, .writeable])
                        ])
                ])
        ])

    /// The paths of the characteristic and of its descriptor.
    private func attributes(_ client: BusClient) async throws -> (characteristic: ObjectPath, descriptor: ObjectPath) {
        let characteristic = try #require(try await client.characteristic("ffe1", of: Self.device))
        let descriptor = try await client.objects().first { path, interfaces in
            interfaces[BlueZInterfaces.descriptor] != nil && path.text.hasPrefix(characteristic.text)
        }
        return (characteristic, try #require(descriptor?.path))
    }

    @Test func aWriteFromAnOffsetReachesTheDevice() async throws {
        let fixture = try await ServedFixture(WorldDescription(devices: [Self.described]))
        let client = try await fixture.client(finding: Self.device)
        try await fixture.connect(client, to: Self.device)
        let paths = try await attributes(client)
        let offset = { DBusValue.properties(["offset": .uint16($0)]) }
        try await client.call("WriteValue", .bytes([9]), offset(1), on: paths.characteristic, "GattCharacteristic1")
        try await client.call("WriteValue", .bytes([4]), offset(3), on: paths.characteristic, "GattCharacteristic1")
        let value = try await client.call("ReadValue", Self.none, on: paths.characteristic, "GattCharacteristic1")
        #expect(value == [.bytes([1, 9, 3, 4])])
        try await client.call("WriteValue", .bytes([0x6F]), offset(1), on: paths.descriptor, "GattDescriptor1")
        let text = try await client.call("ReadValue", Self.none, on: paths.descriptor, "GattDescriptor1")
        #expect(text == [.bytes(Array("toxt".utf8))])
        let error = await #expect(throws: DBusError.self) {
            try await client.call("WriteValue", .bytes([9]), offset(9), on: paths.descriptor, "GattDescriptor1")
        }
        #expect(error?.message == "Invalid offset")
        fixture.service.stop()
    }

    @Test func aDescriptorThatADeviceChangedIsReadAnew() async throws {
        let fixture = try await ServedFixture(WorldDescription(devices: [Self.described]))
        let client = try await fixture.client(finding: Self.device)
        try await fixture.connect(client, to: Self.device)
        let path = try await attributes(client).descriptor
        let read = { try await client.call("ReadValue", Self.none, on: path, "GattDescriptor1") }
        #expect(try await read() == [.bytes(Array("text".utf8))])
        let device = try #require(fixture.emulator.device(named: "Box"))
        device.setValue(Data("new".utf8), ofDescriptor: "2901", of: "FFE1")
        #expect(try await client.get("Value", of: "GattDescriptor1", at: path) == .bytes(Array("text".utf8)))
        #expect(try await read() == [.bytes(Array("new".utf8))])
        #expect(try await client.get("Value", of: "GattDescriptor1", at: path) == .bytes(Array("new".utf8)))
        fixture.service.stop()
    }

    @Test func aNotificationBeforeTheConfirmationIsReceived() async throws {
        var device = PeripheralDescription.notifiesTooEarly
        device.address = Self.address
        let fixture = try await ServedFixture(WorldDescription(devices: [device]))
        let client = try await fixture.client(finding: Self.device)
        try await fixture.connect(client, to: Self.device)
        let path = try #require(try await client.characteristic("fff1", of: Self.device))
        let values = Lock<[DBusValue]>([])
        let subscription = client.connection.subscribe(
            DBusMatchRule(
                sender: "org.bluez", interface: StandardInterface.properties.name, member: "PropertiesChanged")
        ) { message in
            guard message.path == path,
                case .success(let arguments) = Result<DBusMessage, DBusError>.success(message).values,
                let value = arguments.dropFirst().first?.propertiesValue?["Value"]
            else { return }
            values.withLock { $0.append(value) }
        }
        try await client.call("StartNotify", on: path, "GattCharacteristic1")
        #expect(values.withLock { $0 } == [.bytes(Array("B".utf8))])
        withExtendedLifetime(subscription) {}
        fixture.service.stop()
    }

    @Test func aSubscriptionWithoutALinkIsMadeOnTheNextOne() async throws {
        let fixture = try await ServedFixture()
        let client = try await fixture.client()
        try await fixture.connect(client)
        let path = try #require(try await client.characteristic("2a37", of: .monitor))
        try await client.call("Disconnect", on: .monitor, "Device1")
        try await client.call("StartNotify", on: path, "GattCharacteristic1")
        #expect(try await client.get("Notifying", of: "GattCharacteristic1", at: path) == .boolean(false))
        try await fixture.connect(client)
        try await client.wait {
            try await client.get("Notifying", of: "GattCharacteristic1", at: path) == .boolean(true)
        }
        fixture.service.stop()
    }

    /// The daemon serves every client and every other device, regardless of what a device sends.
    @Test(arguments: PeripheralDescription.hostile)
    func aHostileDeviceLeavesTheOthersUsable(_ hostile: PeripheralDescription) async throws {
        let fixture = try await ServedFixture(WorldDescription(devices: [hostile, .heartRateMonitor]))
        let client = try await fixture.client()
        var devices: Set<ObjectPath> = []
        try await client.wait {
            let objects = try await client.objects()
            devices = Set(objects.filter { $0.interfaces[BlueZInterfaces.device] != nil }.map(\.path))
            return devices.count == 2
        }
        let other = try #require(devices.subtracting([.monitor]).first)
        // One of the devices never shows its services, and another shows more services than a test can wait for.
        let waits = hostile.handler != .neverDiscovered && hostile.handler != .endlessServices
        try await fixture.connect(client)
        let level = try #require(try await client.characteristic("2a19", of: .monitor))
        let stranger = Task { await use(other, client, waits: waits) }
        #expect(
            try await client.call("ReadValue", Self.none, on: level, "GattCharacteristic1") == [.bytes([87])])
        if let error = await stranger.value { Issue.record("\(hostile.name): \(error)") }
        #expect(try await client.get("Name", of: "Device1", at: .monitor) == .string("Heart Rate Monitor"))
        // A list of endless services takes longer than a test may.
        if waits { #expect(try await client.objects().contains { $0.path == .monitor }) }
        fixture.service.stop()
    }

    /// Connects a device, and subscribes to its notifications until it refuses or disconnects.
    ///
    /// - Returns: An error that does not come from BlueZ.
    private func use(_ device: ObjectPath, _ client: BusClient, waits: Bool) async -> (any Error)? {
        do {
            try await client.call("Connect", on: device, "Device1")
            guard waits else { return nil }
            try await client.wait {
                let isResolved = try await client.get("ServicesResolved", of: "Device1", at: device)
                let isConnected = try await client.get("Connected", of: "Device1", at: device)
                return isResolved == .boolean(true) || isConnected == .boolean(false)
            }
            for (path, interfaces) in try await client.objects() where path.isBelow(device) {
                guard interfaces[BlueZInterfaces.characteristic]?["Notifying"] != nil else { continue }
                try await client.call("StartNotify", on: path, "GattCharacteristic1")
            }
            return nil
        } catch let error as DBusError
            where error.name.hasPrefix("org.bluez.Error.") || error.name == DBusError.Name.unknownObject
        {
            return nil
        } catch {
            return error
        }
    }
}
