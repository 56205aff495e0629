#if Emulator
import BluetoothBackend
import BluetoothSupport
import ChildProcesses
import LogCapture
import Testing

@testable import BluetoothEmulator
@testable import CoreBluetoothClasses

/// A program with managers of both roles, which names no host of the emulator.
@Suite struct BothRolesTests {
    /// An app that advertises and scans for its own advertisement.
    private final class ContactApp: NSObject, CBCentralManagerDelegate, CBPeripheralManagerDelegate, Sendable {
        static let service = CBUUID(string: "C0DE")

        private let found = Lock(Set<UUID>())
        var peers: Set<UUID> { found.withLock { $0 } }

        /// Creates the managers, whose backend is that of the task.
        func makeManagers() -> [CBManager] {
            let queue = DispatchQueue(label: "contact app")
            return [CBCentralManager(delegate: self, queue: queue), CBPeripheralManager(delegate: self, queue: queue)]
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            if central.state == .poweredOn { central.scanForPeripherals(withServices: [Self.service]) }
        }

        func centralManager(
            _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) {
            found.withLock { _ = $0.insert(peripheral.identifier) }
        }

        func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
            guard peripheral.state == .poweredOn else { return }
            peripheral.startAdvertising([CBAdvertisementDataServiceUUIDsKey: [Self.service]])
        }
    }

    /// Returns the peers that apps find within five seconds, each over its backend.
    private func peers(
        in emulator: Emulator, over backends: [CBBackendSelection]
    ) async throws -> [Set<UUID>] {
        let apps = backends.map { _ in ContactApp() }
        let managers = zip(apps, backends).map { app, backend in CBManager.withBackend(backend) { app.makeManagers() } }
        try await emulator.advance(by: .seconds(5))
        withExtendedLifetime(managers) {}
        return apps.map(\.peers)
    }

    @Test func withTheEmulatorInPlaceOfItsAdapterAProgramFindsOthersAndNotItself() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let phone = try emulator.add(HostDescription(name: "phone"))
        let peers = try await peers(
            in: emulator, over: [.custom(emulator.inPlaceOfAdapter), .emulator(host: phone)])
        #expect(emulator.hosts.map(\.name) == ["default", "phone"])
        let (own, other) = (emulator.host.identifier(onHost: "phone"), phone.identifier(onHost: "default"))
        #expect(peers == [[try #require(other).uuid], [try #require(own).uuid]])
    }

    @Test func aWorldThatAProgramNamesHasAHostForEachPeripheralManagerThatNamesNone() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        let peers = try await peers(in: emulator, over: [.emulator(emulator)])
        #expect(emulator.hosts.map(\.name) == ["default", "peripheral 1"])
        #expect(peers.first?.count == 1)
    }

    @Test func theEmulatorThatTheEnvironmentSelectsHasOneHostForBothRoles() {
        let environment = SelectionEnvironment(["COREBLUETOOTH_BACKEND": "emulator"])
        let backend = BackendResolver.backend(environment: environment)
        let managers = CBManager.withBackend(.custom(backend)) { ContactApp().makeManagers() }
        #expect(backend.name == "emulator" && managers.count == 2)
        #expect(Emulator.shared.hosts.map(\.name) == ["default"])
    }

    #if os(Linux)
    @Test func anUnchangedProgramUnderTheEnvironmentsEmulatorFindsOthersAndNotItself() async throws {
        let environment = ProcessInfo.processInfo.environment.merging(["COREBLUETOOTH_BACKEND": "emulator"]) { $1 }
        let run = try await ChildProcess.run(
            ChildProcess.built("BlockingMain"), ["contacts"], environment: environment)
        #expect(run.status == 0)
        #expect(run.output == "found others alone\n")
    }
    #endif

    @Test func theLogSaysOnceThatBothRolesAreTwoDevices() async throws {
        LogCapture.start()
        Emulator.isTwoHostsNoted.withLock { $0 = false }
        let text = "a peripheral manager that names no host has one of its own, \"peripheral "
        let before = LogCapture.lines(containing: text).count
        for _ in 0..<2 {
            let emulator = Emulator(configuration: .instant, time: .virtual)
            _ = try await peers(in: emulator, over: [.emulator(emulator)])
        }
        let lines = LogCapture.lines(containing: text)
        #expect(lines.count == before + 1)
        #expect(lines.last?.hasPrefix("BluetoothEmulator notice") == true)
    }

    @Test func anAdapterThatIsNamedGoesBeforeTheDefaultHost() async throws {
        let emulator = Emulator(configuration: .instant, time: .virtual)
        try emulator.add(HostDescription(name: "phone"))
        let peripheral = emulator.inPlaceOfAdapter.makePeripheral(RoleOptions(adapter: "phone"))
        defer { peripheral.invalidate() }
        try await emulator.advance(by: .seconds(1))
        #expect(emulator.host.peripheral == nil)
        #expect(emulator.host(named: "phone")?.peripheral != nil)
    }
}
#endif
