import BluetoothDBus
import BluetoothEmulator
import BluetoothSupport
import ScriptedBlueZ
import Testing

@testable import EmulatedBlueZ

/// Programs that the daemon calls, on a private bus.
@Suite struct ServingClientsTests {
    /// Waits for what the daemon sends, with a call to it each time.
    private func wait(_ client: BusClient, until condition: () -> Bool) async throws {
        try await client.wait {
            _ = try await client.get("Address", of: "Adapter1", at: .hci0)
            return condition()
        }
    }

    @Test func aMonitorFindsADeviceAgainWhenThePowerReturns() async throws {
        let fixture = try await ServedFixture()
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
