import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

#if os(Linux)
/// An app of delegates whose timeouts and retries are calls of `asyncAfter`, under radio histories.
@Suite struct DelayHistoriesTests {
    private static let world = WorldDescription(devices: [
        PeripheralDescription(
            name: "Sensor",
            advertising: [AdvertisingDescription(AdvertisingData(localName: "Sensor", services: ["FFF0"]))],
            services: [
                ServiceDescription(
                    "FFF0",
                    characteristics: [
                        CharacteristicDescription(
                            "FFF1", [.read, .notify], timer: CharacteristicDescription.Timer(every: .seconds(5)))
                    ])
            ])
    ])

    @Test(.emulator(.histories(200, .all, rate: 4), world: world))
    func anAppRecoversByItsTimeoutsAndRetries() async throws {
        try await Self.follow(SensorApp())
    }

    @Test func aTimeoutThatIsNotCancelledIsFound() async throws {
        let messages = try await IssueCollector.issues(of: .emulator(.histories(200), seed: 1, world: Self.world)) {
            try await Self.follow(SensorApp(cancelsEarlierTimeouts: false))
        }
        #expect(messages.first?.contains(": no timeout ends a later attempt") == true)
        #expect(messages.first?.contains("COREBLUETOOTH_HISTORY=") == true)
    }

    @Test func equalRunsHaveOneTrace() async throws {
        var traces: Set<[String]> = []
        for _ in 0..<20 {
            let emulator = try Emulator(world: Self.world, configuration: .default, time: .virtual, seed: 3)
            let app = try await emulator.run { SensorApp() }
            try await emulator.advance(by: .seconds(10))
            emulator.setInterference(0.3)
            try await emulator.advance(by: .seconds(60))
            let device = try #require(emulator.device(named: "Sensor"))
            device.disconnect()
            try await emulator.advance(by: .seconds(60))
            app.stop()
            #expect(app.values > 10)
            traces.insert(emulator.trace.map(\.description))
        }
        #expect(traces.count == 1)
    }

    private static func follow(_ app: SensorApp) async throws {
        let emulator = Emulator.current
        emulator.always("no timeout ends a later attempt") { !app.hasEndedLaterAttempt }
        try await emulator.advance(by: max(.zero, emulator.endOfIncidents - emulator.now) + .seconds(180))
        let count = app.values
        try await emulator.advance(by: .seconds(60))
        #expect(app.values > count, "no value after the incidents")
        app.stop()
        try await emulator.advance(by: .seconds(60))
        #expect(emulator.devices.allSatisfy { $0.connectionCount == 0 })
    }
}

/// An app that follows the values of a sensor, and begins again two seconds after a failure, or after twenty seconds
/// without a value.
private final class SensorApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: used on `queue` alone, except for the reports.
    private let queue = DispatchQueue(label: "sensor app")
    private let cancelsEarlierTimeouts: Bool
    private var manager: CBCentralManager?
    private var sensor: CBPeripheral?
    private var timeout: DispatchWorkItem?
    private var attempts = 0
    private let reports = Lock((values: 0, hasEndedLaterAttempt: false))

    var values: Int { reports.withLock { $0.values } }
    var hasEndedLaterAttempt: Bool { reports.withLock { $0.hasEndedLaterAttempt } }

    init(cancelsEarlierTimeouts: Bool = true) {
        self.cancelsEarlierTimeouts = cancelsEarlierTimeouts
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    func stop() {
        queue.sync {
            timeout?.cancel()
            if let sensor, manager?.state == .poweredOn { manager?.cancelPeripheralConnection(sensor) }
            if manager?.state == .poweredOn { manager?.stopScan() }
            sensor = nil
            manager = nil
        }
    }

    private func begin() {
        guard let manager, manager.state == .poweredOn, sensor == nil else { return }
        attempts += 1
        if cancelsEarlierTimeouts { timeout?.cancel() }
        startTimeout()
        manager.scanForPeripherals(withServices: [CBUUID(string: "FFF0")])
    }

    private func startTimeout() {
        let attempt = attempts
        let timeout = DispatchWorkItem { [weak self] in self?.timedOut(attempt) }
        self.timeout = timeout
        queue.asyncAfter(deadline: .now() + 20, execute: timeout)
    }

    private func timedOut(_ attempt: Int) {
        if attempt != attempts { reports.withLock { $0.hasEndedLaterAttempt = true } }
        if let sensor, manager?.state == .poweredOn { manager?.cancelPeripheralConnection(sensor) }
        retry()
    }

    private func retry() {
        sensor = nil
        queue.asyncAfter(deadline: .now() + 2) { [weak self] in self?.begin() }
    }

    // MARK: The manager

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        sensor = nil
        begin()
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard sensor == nil else { return }
        sensor = peripheral
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        if peripheral === sensor { peripheral.discoverServices([CBUUID(string: "FFF0")]) }
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        if peripheral === sensor { retry() }
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        if peripheral === sensor { retry() }
    }

    // MARK: The sensor

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        guard let service = peripheral.services?.first else { return }
        peripheral.discoverCharacteristics(nil, for: service)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        guard let value = service.characteristics?.first else { return }
        peripheral.setNotifyValue(true, for: value)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        guard peripheral === sensor else { return }
        reports.withLock { $0.values += 1 }
        timeout?.cancel()
        startTimeout()
    }
}
#endif
