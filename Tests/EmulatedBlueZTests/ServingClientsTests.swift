import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport
import ScriptedBlueZ
import Testing

@testable import EmulatedBlueZ

/// Programs that serve attributes on a private bus, used from a second adapter.
@Suite struct ServingClientsTests {
    private static let root = DBusValue.objectPath(.constant("/app"))
    private static let advertisement = DBusValue.objectPath(.constant("/ad"))

    private func serve(_ configuration: EmulatorConfiguration = .instant) async throws -> ServedFixture {
        try await ServedFixture(configuration: configuration, hosts: [HostDescription(name: "other")])
    }

    private func export(_ server: BusClient) -> ReceivedCalls {
        server.export(ServingTests.application(["notify"]), advertisement: ["Type": .string("peripheral")])
    }

    private func register(_ server: BusClient) async throws {
        try await server.call("RegisterApplication", Self.root, .properties([:]), on: .hci0, "GattManager1")
    }

    private func advertise(_ server: BusClient) async throws(DBusError) {
        try await server.call(
            "RegisterAdvertisement", Self.advertisement, .properties([:]), on: .hci0, "LEAdvertisingManager1")
    }

    /// Connects the second adapter with the first one.
    private func connect(_ client: BusClient, in fixture: ServedFixture) async throws {
        let address = fixture.emulator.host.airAddress.description
        let device = ObjectPath.hci1.appending("dev_" + address.split(separator: ":").joined(separator: "_"))
        try await client.call("StartDiscovery", on: .hci1, "Adapter1")
        try await client.wait { (try? await client.get("Address", of: "Device1", at: device)) != nil }
        try await client.call("Connect", on: device, "Device1")
    }

    /// The path of the application's characteristic on the second adapter, after it appears.
    private func characteristic(_ client: BusClient) async throws -> ObjectPath {
        var found: ObjectPath?
        try await client.wait {
            found =
                try await client.objects().first { _, interfaces in
                    interfaces[BlueZInterfaces.characteristic]?["UUID"]?.stringValue?.hasPrefix("0000fff1") == true
                }?.path
            return found != nil
        }
        return try #require(found)
    }

    /// Subscribes to a characteristic; the one of a service withdrawn before has the same path, and notifies.
    private func subscribe(_ client: BusClient, to path: ObjectPath) async throws {
        try await client.wait {
            (try? await client.get("Notifying", of: "GattCharacteristic1", at: path)) == .boolean(false)
        }
        try await client.call("StartNotify", on: path, "GattCharacteristic1")
    }

    /// Waits for an output of the daemon, with a call to it in each pass.
    private func wait(_ client: BusClient, until condition: () -> Bool) async throws {
        try await client.wait {
            _ = try await client.get("Address", of: "Adapter1", at: .hci0)
            return condition()
        }
    }

    @Test func whatIsRegisteredWithoutPowerIsThereWhenItReturns() async throws {
        let fixture = try await serve()
        let (server, client) = (try await BusClient(fixture.bus), try await BusClient(fixture.bus))
        _ = export(server)
        fixture.emulator.host.setPower(false)
        try await server.wait { try await server.get("Powered", of: "Adapter1", at: .hci0) == .boolean(false) }
        try await register(server)
        await #expect(throws: BlueZError.failed("Failed to register advertisement")) { try await advertise(server) }
        fixture.emulator.host.setPower(true)
        try await server.wait { try await server.get("Powered", of: "Adapter1", at: .hci0) == .boolean(true) }
        try await advertise(server)
        try await connect(client, in: fixture)
        _ = try await characteristic(client)
        fixture.service.stop()
    }

    @Test func aWriteFromAnOffsetReachesTheApplicationWithIt() async throws {
        let fixture = try await serve()
        let (server, client) = (try await BusClient(fixture.bus), try await BusClient(fixture.bus))
        let calls = server.export(ServingTests.application(["write"]), advertisement: ["Type": .string("peripheral")])
        try await register(server)
        try await advertise(server)
        try await connect(client, in: fixture)
        let options = DBusValue.properties(["offset": .uint16(7)])
        try await client.call(
            "WriteValue", .bytes([1, 2]), options, on: try await characteristic(client), "GattCharacteristic1")
        let write = try #require(calls.writes.withLock { $0.first })
        #expect(write.first == .bytes([1, 2]))
        #expect(write.last?.propertiesValue?["offset"] == .uint16(7))
        fixture.service.stop()
    }

    /// The values wait for the next connection event, because they are more than the controller accepts at once.
    @Test func aBurstArrivesWhenTheServerHasStartedAgain() async throws {
        var configuration = EmulatorConfiguration.instant
        configuration.connectionInterval = .milliseconds(30)
        let fixture = try await serve(configuration)
        let (server, client) = (try await BusClient(fixture.bus), try await BusClient(fixture.bus))
        let calls = export(server)
        try await register(server)
        try await advertise(server)
        try await connect(client, in: fixture)
        let path = try await characteristic(client)
        try await subscribe(client, to: path)
        try await wait(client) { calls.count("StartNotify") == 1 }
        try await server.call("UnregisterApplication", Self.root, on: .hci0, "GattManager1")
        try await register(server)
        try await subscribe(client, to: path)
        try await wait(client) { calls.count("StartNotify") == 2 }
        #expect(try await values(of: path, client, count: 60, from: server) == Array(0..<60))
        fixture.service.stop()
    }

    /// The values that the client receives when the server sends `count` values at once.
    // Swift 6.3.1 crashes when it optimizes this function.
    @_optimize(none) private func values(
        of characteristic: ObjectPath, _ client: BusClient, count: UInt8, from server: BusClient
    ) async throws -> [UInt8] {
        let values = Lock<[UInt8]>([])
        let rule = DBusMatchRule(
            pathNamespace: characteristic, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged")
        let subscription = client.connection.subscribe(rule) { message in
            let body = Result<DBusMessage, DBusError>.success(message).values
            guard case .success(let arguments) = body, arguments.count == 3,
                let value = arguments[1].propertiesValue?["Value"]?.bytesValue
            else { return }
            values.withLock { $0 += value }
        }
        for value in 0..<count {
            try server.send(
                "PropertiesChanged", of: "Properties", at: .constant("/app/service/c"),
                .string(BlueZInterfaces.characteristic), .properties(["Value": .bytes([value])]), .strings([]))
        }
        try await wait(client) { values.withLock { $0.last } == count - 1 }
        subscription.cancel()
        return values.withLock { $0 }
    }

    /// The first device of the second adapter whose properties satisfy a condition.
    private func device(
        _ client: BusClient, where isWanted: ([String: DBusValue]) -> Bool
    ) async throws -> [String: DBusValue] {
        var found: [String: DBusValue]?
        try await client.wait {
            let reply = try await client.connection.call(
                to: "org.bluez", path: .root, interface: "org.freedesktop.DBus.ObjectManager",
                member: "GetManagedObjects")
            found = ApplicationDescription.objects(in: reply.first).lazy
                .filter { $0.0.isBelow(.hci1) }.compactMap { $0.1[BlueZInterfaces.device] }.first(where: isWanted)
            return found != nil
        }
        return try #require(found)
    }

    @Test func aScannerSeesAllThatAClientAdvertises() async throws {
        let fixture = try await serve()
        let (server, client) = (try await BusClient(fixture.bus), try await BusClient(fixture.bus))
        let companies = DBusValue.dictionary(
            DBusDictionary(
                keyType: .uint16, valueType: .variant,
                entries: [0x59, 0x4C].map { .init(key: .uint16($0), value: .variant(.bytes([1]))) }))
        _ = server.export(
            ServingTests.application(["read"]),
            advertisement: [
                "Type": .string("peripheral"), "Appearance": .uint16(0x03C1), "ManufacturerData": companies,
                "LocalName": .string(String(repeating: "n", count: 40)),
            ])
        try await advertise(server)
        try await client.call("StartDiscovery", on: .hci1, "Adapter1")
        let seen = try await device(client) { $0["Appearance"] != nil }
        #expect(seen["Appearance"] == .uint16(0x03C1))
        #expect(seen["Icon"] == .string("input-keyboard"))
        #expect(seen["Name"] == .string(String(repeating: "n", count: 29)))
        guard case .dictionary(let found)? = seen["ManufacturerData"] else { Issue.record("no company"); return }
        #expect(found.entries.map(\.key) == [.uint16(0x4C), .uint16(0x59)])
        fixture.service.stop()
    }

    @Test func anAdapterTakesAsManyAdvertisementsAsItPromises() async throws {
        let fixture = try await serve()
        let server = try await BusClient(fixture.bus)
        _ = export(server)
        var taken = 0
        while case .byte(let free)? = try await server.get("SupportedInstances", of: "LEAdvertisingManager1", at: .hci0),
            free > 0
        {
            try await server.call(
                "RegisterAdvertisement", .objectPath(.constant("/ad\(taken)")), .properties([:]), on: .hci0,
                "LEAdvertisingManager1")
            taken += 1
        }
        #expect(taken == fixture.emulator.configuration.maximumAdvertisingSets)
        await #expect(throws: BlueZError.notPermitted("Maximum advertisements reached")) { try await advertise(server) }
        fixture.service.stop()
    }

    @Test func anInvalidMonitorIsReleased() async throws {
        let fixture = try await serve()
        let client = try await BusClient(fixture.bus)
        let calls = client.export(
            MonitorTests.monitors(["/m/1"], ["RSSIHighThreshold": .int16(-50), "RSSILowThreshold": .int16(-40)]))
        try await client.call(
            "RegisterMonitor", .objectPath(.constant("/m")), on: .hci0, "AdvertisementMonitorManager1")
        try await wait(client) { calls.count("Release") == 1 }
        #expect(calls.count("Activate") == 0)
        fixture.service.stop()
    }

    @Test func aMonitorFindsADeviceAgainWhenThePowerReturns() async throws {
        let fixture = try await serve()
        let client = try await BusClient(fixture.bus)
        let calls = client.export(MonitorTests.monitors(["/m/1"]))
        try await client.call(
            "RegisterMonitor", .objectPath(.constant("/m")), on: .hci0, "AdvertisementMonitorManager1")
        for count in 1...2 {
            try await wait(client) { calls.count("DeviceFound") == count }
            fixture.emulator.host.setPower(false)
            try await client.wait { try await client.get("Powered", of: "Adapter1", at: .hci0) == .boolean(false) }
            fixture.emulator.host.setPower(true)
        }
        fixture.service.stop()
    }
}
