import BluetoothDBus
import BluetoothEmulator
import EmulatedBlueZ
import ScriptedBlueZ
import Testing

/// The service on a private bus: its name and its end.
@Suite struct ServiceTests {
    @Test func theNameIsOwnedOnceTheWorldIsServed() async throws {
        let bus = try PrivateBus()
        let service = try await EmulatedBlueZ.serve(Emulator(), on: bus.address.text)
        await #expect(throws: EmulatedBlueZError.nameTaken) {
            try await EmulatedBlueZ.serve(Emulator(), on: bus.address.text)
        }
        service.stop()
        try await service.waitUntilEnd()
    }

    @Test func theServiceEndsWithTheBus() async throws {
        let bus = try PrivateBus()
        let service = try await EmulatedBlueZ.serve(Emulator(), on: bus.address.text)
        bus.kill()
        await #expect(throws: EmulatedBlueZError.self) { try await service.waitUntilEnd() }
    }

    @Test func virtualTimeIsRefused() async throws {
        let bus = try PrivateBus()
        await #expect(throws: EmulatedBlueZError.virtualTime) {
            try await EmulatedBlueZ.serve(Emulator(time: .virtual), on: bus.address.text)
        }
    }

    /// The object keeps the path of the address under which the device was heard.
    @Test func aBondDisclosesTheIdentityAddressOfADevice() async throws {
        let fixture = try await ServedFixture()
        let device = try #require(fixture.emulator.device(named: "Heart Rate Monitor"))
        let identity = "C0:DE:00:00:18:0D"
        device.rotateAddress()
        let peer = try #require(device.identifier())
        let client = try await BusClient(fixture.bus)
        try await client.call("StartDiscovery", on: .hci0, "Adapter1")
        try await client.wait {
            // Each pass makes a call to the daemon, while the device is not heard.
            _ = try await client.get("Discovering", of: "Adapter1", at: .hci0)
            return fixture.emulator.host.address(of: peer) != nil
        }
        let address = try #require(fixture.emulator.host.address(of: peer)).description
        let name = address.split(separator: ":").joined(separator: "_")
        let path = try #require(ObjectPath("/org/bluez/hci0/dev_\(name)"))
        try await client.wait { (try? await client.get("Address", of: "Device1", at: path)) == .string(address) }
        try await client.call("RegisterAgent", .objectPath(path), .string(""), on: .bluez, "AgentManager1")
        try await client.call("Pair", on: path, "Device1")
        #expect(address != identity)
        #expect(try await client.get("Address", of: "Device1", at: path) == .string(identity))
        #expect(try await client.get("Paired", of: "Device1", at: path) == .boolean(true))
        fixture.service.stop()
    }
}
