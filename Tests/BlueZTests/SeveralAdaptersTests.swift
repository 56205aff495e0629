#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import ScriptedBlueZ
import Testing

@testable import BlueZ

/// One manager per adapter in one process.
@Suite struct SeveralAdaptersTests {
    private static let second = "/org/bluez/hci1"
    private static let secondAddress = "66:77:88:99:AA:BB"
    private static let peer = "F0:F1:F2:F3:F4:F5"

    private let bus: PrivateBus
    private let daemon: ScriptedBlueZ

    init() throws {
        bus = try PrivateBus()
        daemon = try ScriptedBlueZ(on: bus)
        daemon.service.add(
            Self.second,
            [
                ScriptedBlueZ.Interface.adapter: [
                    "Address": .string(Self.secondAddress), "Powered": .boolean(true), "Discovering": .boolean(false),
                    "Roles": .strings(["central", "peripheral"]),
                ]
            ])
    }

    private func central(on adapter: String) async throws -> (any CentralBackend, EventRecorder) {
        guard case .explicit(let address) = bus.address else { throw CancellationError() }
        let recorder = EventRecorder()
        let backend = BlueZBackend(BlueZConfiguration(busAddress: address, adapter: adapter))
        let central = backend.makeCentral(RoleOptions())
        central.activate(recorder)
        try await recorder.wait(for: .poweredOn)
        return (central, recorder)
    }

    @Test func eachManagerScansAndHearsOnItsOwnAdapter() async throws {
        let (first, heardByFirst) = try await central(on: "hci0")
        let (second, heardBySecond) = try await central(on: Self.secondAddress)
        first.submit(.startScan(ScanParameters()))
        second.submit(.startScan(ScanParameters()))
        for path in [ScriptedBlueZ.adapter, Self.second] {
            _ = try await daemon.service.calls.first { $0.member == "StartDiscovery" && $0.path == path }
        }
        daemon.addDevice(Self.peer, name: "on the first")
        daemon.service.add(
            Self.second + "/dev_F0_F1_F2_F3_F4_F5",
            [
                ScriptedBlueZ.Interface.device: [
                    "Address": .string(Self.peer), "AddressType": .string("random"), "Connected": .boolean(false),
                    "Paired": .boolean(false), "ServicesResolved": .boolean(false), "UUIDs": .strings([]),
                    "Name": .string("on the second"), "RSSI": .int16(-50),
                ]
            ])
        let onFirst = try await discovery(in: heardByFirst)
        let onSecond = try await discovery(in: heardBySecond)
        #expect(onFirst.name == "on the first")
        #expect(onSecond.name == "on the second")
        #expect(onFirst.peer != onSecond.peer, "an identifier belongs to an adapter")
        withExtendedLifetime((first, second)) {}
    }

    @Test func theOtherAdaptersPowerIsNoConcern() async throws {
        let (first, heardByFirst) = try await central(on: "hci0")
        let (second, heardBySecond) = try await central(on: "hci1")
        daemon.service.set(Self.second, ScriptedBlueZ.Interface.adapter, ["Powered": .boolean(false)])
        try await heardBySecond.wait(for: .poweredOff)
        daemon.setPowered(false)
        try await heardByFirst.wait(for: .poweredOff)
        #expect(heardByFirst.states() == [.poweredOn, .poweredOff])
        #expect(heardBySecond.states() == [.poweredOn, .poweredOff])
        withExtendedLifetime((first, second)) {}
    }

    private func discovery(in recorder: EventRecorder) async throws -> Discovery {
        let event = try await recorder.events.first { if case .discovered = $0 { true } else { false } }
        guard case .discovered(let discovery) = event else { throw CancellationError() }
        return discovery
    }
}
#endif
