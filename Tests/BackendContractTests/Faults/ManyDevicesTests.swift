#if BlueZ
import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import EmulatedBlueZ
import Testing

/// An app that connects to fifty devices at once and subscribes to each, over the BlueZ backend and an emulated
/// `bluetoothd`.
@Suite(.serialized, .enabled(if: !BlueZFixture.isChosen, "needs no adapter")) struct ManyDevicesTests {
    private static let devices = (1...50).map { "Sensor \($0)" }
    private static let absent = ["Absent 1", "Absent 2"]

    private static func monitor(_ name: String) -> PeripheralDescription {
        var monitor = PeripheralDescription.heartRateMonitor(batteryLevel: 50)
        monitor.name = name
        monitor.address = nil
        monitor.advertising = [
            AdvertisingDescription(AdvertisingData(services: ["180D"]), scanResponse: AdvertisingData(localName: name))
        ]
        return monitor
    }

    /// The absent devices are connected to first; the daemon gives up each after longer than this test may take.
    @Test(.limitedPrivateBuses, arguments: BlueZDialect.allCases)
    func fiftyDevicesAreSubscribedToWhileOthersAreAbsent(_ dialect: BlueZDialect) async throws {
        let fixture = try await EmulatedBlueZFixture(dialect)
        for name in Self.devices { try fixture.world.emulator.add(Self.monitor(name)) }
        let absent = try Self.absent.map { try fixture.world.emulator.add(Self.monitor($0)) }
        let app = GatheringApp(fixture.backend)
        defer { app.end() }
        let time = RealWorldTime()
        try await time.advance(until: { app.found.isSuperset(of: Self.devices + Self.absent) })
        for device in absent { device.setAdvertising(false) }
        app.connect(to: Self.absent + Self.devices)
        try await time.advance(until: { app.subscribed.count == Self.devices.count || app.problem != nil })
        #expect(app.problem == nil)
        #expect(app.subscribed == Set(Self.devices))
        #expect(app.connecting == Set(Self.absent))
        for device in absent { device.setAdvertising(true) }
        try await time.advance(until: { app.subscribed.isSuperset(of: Self.absent) || app.problem != nil })
        #expect(app.problem == nil)
    }
}

/// An app that scans for heart rate monitors, and connects and subscribes to those that it is told to.
private final class GatheringApp: NSObject, @unchecked Sendable {
    // Invariant: used on the queue of its manager; values that other threads read are under the lock.

    private struct Progress {
        var subscribed: Set<String> = []
        var problem: String?
    }

    private let queue = DispatchQueue(label: "gathering app")
    private let progress = Lock(Progress())
    private var manager: CBCentralManager?
    private var peripherals: [String: CBPeripheral] = [:]

    init(_ backend: CBBackendSelection) {
        super.init()
        queue.sync { manager = CBCentralManager(backend: backend, delegate: self, queue: queue) }
    }

    /// The names of the devices that were discovered.
    var found: Set<String> { queue.sync { Set(peripherals.keys) } }

    /// The names of the devices whose connects are pending.
    var connecting: Set<String> { queue.sync { Set(peripherals.filter { $1.state == .connecting }.keys) } }

    /// The names of the devices that have confirmed a subscription.
    var subscribed: Set<String> { progress.withLock { $0.subscribed } }

    /// The first unexpected event.
    var problem: String? { progress.withLock { $0.problem } }

    /// Ends the scan, and connects to devices in this order.
    func connect(to names: [String]) {
        queue.sync {
            manager?.stopScan()
            for name in names { if let peripheral = peripherals[name] { manager?.connect(peripheral) } }
        }
    }

    /// Releases the manager.
    func end() { queue.sync { (manager, peripherals) = (nil, [:]) } }

    private func check(_ error: (any Error)?, _ step: String, _ peripheral: CBPeripheral) {
        guard let error else { return }
        progress.withLock { $0.problem = $0.problem ?? "\(step), \(peripheral.name ?? ""): \(error)" }
    }
}

extension GatheringApp: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { central.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover found: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String else { return }
        found.delegate = self
        peripherals[name] = found
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices([CBUUID(string: "180D")])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        check(error ?? CancellationError(), "connect", peripheral)
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        check(error ?? CancellationError(), "link", peripheral)
    }
}

extension GatheringApp: CBPeripheralDelegate {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        check(error, "services", peripheral)
        for service in peripheral.services ?? [] {
            peripheral.discoverCharacteristics([CBUUID(string: "2A37")], for: service)
        }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        check(error, "characteristics", peripheral)
        for characteristic in service.characteristics ?? [] { peripheral.setNotifyValue(true, for: characteristic) }
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {
        check(error, "subscription", peripheral)
        guard error == nil, let name = peripherals.first(where: { $1 === peripheral })?.key else { return }
        progress.withLock { _ = $0.subscribed.insert(name) }
    }
}
#endif
