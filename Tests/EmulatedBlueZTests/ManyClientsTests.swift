import BluetoothDBus
import ScriptedBlueZ
import Testing

@testable import EmulatedBlueZ

/// Many programs at once, and programs that leave the bus.
@Suite struct ManyClientsTests {
    private static let heartRate = ObjectPath.constant("/org/bluez/hci0/dev_C0_DE_00_00_18_0D/service0008/char0009")
    private static let location = ObjectPath.constant("/org/bluez/hci0/dev_C0_DE_00_00_18_0D/service0008/char000c")

    @Test func fiftyClientsUseOneDevice() async throws {
        let fixture = try await ServedFixture()
        let first = try await fixture.client()
        try await fixture.connect(first)
        let clients = try await withThrowingTaskGroup { group in
            for _ in 0..<50 {
                group.addTask {
                    let client = try await BusClient(fixture.bus)
                    try await client.call("StartDiscovery", on: .hci0, "Adapter1")
                    try await client.call("Connect", on: .monitor, "Device1")
                    try await client.call("StartNotify", on: Self.heartRate, "GattCharacteristic1")
                    let values = try await client.call(
                        "ReadValue", .properties([:]), on: Self.location, "GattCharacteristic1")
                    #expect(values == [.bytes([1])])
                    return client
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(try await first.get("Notifying", of: "GattCharacteristic1", at: Self.heartRate) == .boolean(true))
        for client in clients { client.close() }
        try await first.wait {
            try await first.get("Notifying", of: "GattCharacteristic1", at: Self.heartRate) == .boolean(false)
        }
        #expect(try await first.get("Discovering", of: "Adapter1", at: .hci0) == .boolean(true))
        fixture.service.stop()
    }

    @Test func aClientThatLeavesInTheMiddleOfItsCallsDisturbsNoOne() async throws {
        let fixture = try await ServedFixture()
        let stays = try await fixture.client()
        for _ in 0..<20 {
            let leaves = try await BusClient(fixture.bus)
            let calls = ["StartDiscovery", "GetDiscoveryFilters"]
            for member in calls {
                let message = try DBusMessage.methodCall(
                    to: "org.bluez", path: .hci0, interface: "org.bluez.Adapter1", member: member)
                try leaves.connection.send(message)
            }
            leaves.close()
        }
        try await fixture.connect(stays)
        fixture.service.stop()
    }
}
