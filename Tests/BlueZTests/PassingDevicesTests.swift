#if os(Linux)
import BluetoothBackend
import BluetoothDBus
import BluetoothSupport
import Dispatch
import Foundation
import ScriptedBlueZ
import Testing

@testable import BlueZ

/// Devices that are heard once and disappear, as `bluetoothd` reports them, to both roles.
private struct PassingDevices {
    var central: CentralRoleMachine
    var peripheral: PeripheralRoleMachine
    /// Shared by both roles.
    private let objects: ObjectModel
    private(set) var reports = 0

    /// - Parameter limit: The number of devices that the roles remember.
    init(limit: Int) {
        objects = ObjectModel()
        central = CentralRoleMachine(selector: .any, objects: objects)
        peripheral = PeripheralRoleMachine(selector: .any, objects: objects, base: PeripheralRoleFixture.base)
        central.watch.remember(atLeast: limit)
        peripheral.watch.remember(atLeast: limit)
        _ = handle(.activated(1))
        _ = peripheral.handle(.activated(1), at: CentralRoleFixture.date)
        receive(.phase(.ready))
        receive(.snapshot([CentralRoleFixture.adapter: CentralRoleFixture.adapterObject()]))
        start(1, ScanParameters())
        _ = central.handle(.activated(2), at: CentralRoleFixture.date)
        start(2, ScanParameters(allowDuplicates: true))
    }

    private mutating func start(_ manager: HostLedger.Manager, _ parameters: ScanParameters) {
        for case .call(let id, _) in handle(.command(manager, .startScan(parameters))) {
            _ = handle(.reply(id, .success(.empty)))
        }
    }

    private mutating func handle(_ input: CentralRoleInput) -> [CentralRoleEffect] {
        central.handle(input, at: CentralRoleFixture.date)
    }

    static func address(_ number: Int) -> String {
        let digits = String(0xF0_0000_0000_00 + number, radix: 16, uppercase: true)
        return stride(from: 0, to: 12, by: 2).map { digits.dropFirst($0).prefix(2) }.joined(separator: ":")
    }

    static func path(_ number: Int) -> ObjectPath { CentralRoleFixture.path(ScriptedBlueZ.path(of: address(number))) }

    /// Adds a device, reports it twice, and removes it.
    mutating func pass(_ number: Int) {
        let path = Self.path(number)
        let object = CentralRoleFixture.deviceObject(
            address: Self.address(number), ["RSSI": .int16(-50), "Name": .string("passing \(number)")])
        receive(.interfacesAdded(path, object))
        receive(.propertiesChanged(path, "org.bluez.Device1", ["RSSI": .int16(-51)], removed: []))
        receive(.interfacesRemoved(path, ["org.bluez.Device1"]))
    }

    private mutating func receive(_ message: DaemonMessage) {
        let event = message.apply(to: objects)
        for case .deliver(_, .discovered) in handle(.daemon(event)) { reports += 1 }
        _ = peripheral.handle(.daemon(event), at: CentralRoleFixture.date)
    }
}

@Suite struct PassingDevicesTests {
    @Test func rolesRememberNoMoreDevicesThanTheirLimit() {
        var devices = PassingDevices(limit: 50)
        for number in 0..<1000 {
            devices.pass(number)
            #expect(devices.central.directory.count <= 50)
        }
        #expect(devices.central.directory === devices.peripheral.directory, "one for both roles")
        #expect(devices.central.managers[1]?.filter?.count == 50)
        #expect(devices.central.managers[2]?.filter?.count == 50)
        #expect(devices.reports == 3000, "once without duplicates, twice with them")
        #expect(devices.central.objects.devices.isEmpty && devices.peripheral.centrals.expected.isEmpty)
        devices.pass(0)
        #expect(devices.reports == 3003, "it was forgotten, and is reported anew")
    }
}

/// It needs a separate process: `make soak`.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["SOAK"] == "1", "make soak"))
struct PassingDevicesSoakTests {
    private final class Crowd: Sendable {
        let devices = LockedState(PassingDevices(limit: RoleOptions.defaultRememberedPeers))
    }

    /// The allowed difference of memory, in KiB, because an allocator does not return everything.
    private static let tolerance = 8192

    /// Splits the addresses between two machines, on a thread each.
    @Test func aMillionAddressesLeaveMemoryFlat() throws {
        let crowds = [Crowd(), Crowd()]
        func pass(_ numbers: Range<Int>) {
            DispatchQueue.concurrentPerform(iterations: crowds.count) { index in
                crowds[index].devices.withLock { devices in
                    for number in numbers { devices.pass(number) }
                }
            }
        }
        let warmUp = 3 * RoleOptions.defaultRememberedPeers
        pass(0..<warmUp)
        let before = try ProcessResources()
        pass(warmUp..<warmUp + 500_000)
        let after = try ProcessResources()
        print("soak: a million addresses, from \(before) to \(after)")
        for crowd in crowds { #expect(crowd.devices.withLock { $0.reports } == 3 * (warmUp + 500_000)) }
        #expect(after.memory - before.memory < Self.tolerance)
    }

    /// Uses a low limit of remembered devices, so that few addresses suffice.
    @Test func addressesOnTheBusLeaveMemoryFlat() async throws {
        let fixture = try BackendFixture()
        let daemon = try ScriptedBlueZ(on: fixture.bus)
        let backend = fixture.makeBackend()
        let central = backend.makeCentral(RoleOptions(rememberedPeers: 500))
        central.activate(fixture.recorder)
        try await fixture.recorder.wait(for: .poweredOn)
        central.submit(.startScan(ScanParameters()))
        _ = try await daemon.service.calls.first { $0.member == "StartDiscovery" }
        var before = try ProcessResources()
        let (batch, warmUp, batches) = (100, 20, 300)
        for round in 0..<warmUp + batches {
            if round == warmUp { before = try ProcessResources() }
            fixture.recorder.events.removeAll()
            let numbers = round * batch..<(round + 1) * batch
            let paths = numbers.map { daemon.addDevice(PassingDevices.address($0), name: "passing") }
            let last = PassingDevices.address(numbers.upperBound - 1)
            try await fixture.recorder.events.first {
                if case .discovered(let discovery) = $0 { discovery.address == last } else { false }
            }
            for path in paths { daemon.service.remove(path) }
        }
        let after = try ProcessResources()
        print("soak: \(batch * batches) addresses on the bus, from \(before) to \(after)")
        #expect(after.memory - before.memory < Self.tolerance)
        withExtendedLifetime(central) {}
    }
}
#endif
