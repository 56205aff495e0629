#if BlueZ
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import RandomPrograms

/// The BlueZ backend and an emulated `bluetoothd` on a private bus, in real time.
///
/// A program's waits are a hundred times shorter there, because nothing in that world has latency.
final class ServedProgramPlace: ProgramPlace {
    private static let timeScale = 100

    private let fixture: EmulatedBlueZFixture
    private let time = RealWorldTime()
    private let identifiers = Lock<[EmulatedDevice: UUID]>([:])

    init(_ fixture: EmulatedBlueZFixture) { self.fixture = fixture }

    var emulator: Emulator { fixture.world.emulator }

    /// The fixture's threads end a moment later.
    var endsWithItsProgram: Bool { false }

    func selection() throws -> CBBackendSelection { fixture.backend }

    /// Scans for the devices, so that the managers know them.
    func begin(_ devices: [EmulatedDevice]) async throws {
        let scout = Scout(fixture.backend)
        let names = devices.map(\.name)
        try await time.advance(until: { names.allSatisfy { scout.identifiers[$0] != nil } })
        for device in devices {
            guard let identifier = scout.identifiers[device.name] else { continue }
            identifiers.withLock { $0[device] = identifier }
        }
        scout.stop()
    }

    func identifier(of device: EmulatedDevice) -> UUID? { identifiers.withLock { $0[device] } }

    /// A machine does not hear itself, so there is no identifier.
    func serverIdentifier() -> UUID? { nil }

    func pass(_ duration: Duration) async throws { try await time.advance(by: duration / Self.timeScale) }

    func settle() async throws {}

    /// Waits up to a limit; a program that waits in vain finds out by checking afterwards.
    func rest(_ limit: Duration, until isDone: @escaping @Sendable () -> Bool) async throws {
        do {
            try await time.advance(until: isDone)
        } catch is ContractTimeout {}
    }

    /// Kills the daemon with its whole state, and starts another one in its place.
    func reset() async throws {
        try await fixture.perform(.daemon(isRunning: false))
        try await fixture.perform(.daemon(isRunning: true))
    }
}

/// An app that scans and records the devices that it hears.
private final class Scout: NSObject, CBCentralManagerDelegate, Sendable {
    private let heard = Lock<[String: UUID]>([:])
    private let manager = Lock<Carried<CBCentralManager>?>(nil)

    init(_ backend: CBBackendSelection) {
        super.init()
        let manager = CBCentralManager(backend: backend, delegate: self, queue: DispatchQueue(label: "scout"))
        self.manager.withLock { $0 = Carried(manager) }
    }

    /// The identifiers by advertised name.
    var identifiers: [String: UUID] { heard.withLock { $0 } }

    func stop() {
        manager.withLock { $0.take() }?.object.stopScan()
    }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String else { return }
        heard.withLock { $0[name] = peripheral.identifier }
    }
}
#endif
