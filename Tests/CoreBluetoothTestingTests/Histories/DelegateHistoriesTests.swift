import BluetoothEmulator
import BluetoothSupport
import CoreBluetooth
import CoreBluetoothTesting
import Foundation
import Testing

/// An app of delegates under radio histories: the callbacks keep their rules, and the app is connected again whenever
/// its device is there.
@Suite struct DelegateHistoriesTests {
    private static let description = PeripheralDescription(
        name: "Meter",
        advertising: [AdvertisingDescription(AdvertisingData(localName: "Meter", services: ["FFF0"]))],
        services: [
            ServiceDescription(
                "FFF0",
                characteristics: [
                    CharacteristicDescription(
                        "FFF1", [.read, .write, .notify],
                        timer: CharacteristicDescription.Timer(every: .seconds(1)))
                ])
        ])
    private static let world = WorldDescription(devices: [description])

    @Test(.emulator(.histories(30, .all, rate: 4), world: world)) func callbacksKeepTheirRules() async throws {
        try await Self.follow()
    }

    @Test(.emulator(.histories(30, .flakyHost, rate: 6), world: world))
    func callbacksKeepTheirRulesOnAFlakyHost() async throws { try await Self.follow() }

    @Test(.emulator(.histories(30, .walking, rate: 6), world: world))
    func callbacksKeepTheirRulesOnWalks() async throws { try await Self.follow() }

    private static func follow() async throws {
        let emulator = Emulator.current
        let meter = MeterApp(clock: emulator.swiftClock)
        emulator.always("the callbacks keep their rules") { meter.violations.isEmpty }
        try await emulator.run(within: .seconds(10_000)) {
            while emulator.now < .seconds(60) || emulator.now - meter.lastValue > .seconds(15) {
                guard emulator.now < .seconds(1_000) else {
                    Issue.record("no value since \(meter.lastValue)")
                    break
                }
                try await Task.sleep(for: .seconds(1))
                meter.watch()
            }
            meter.stop()
            try await Task.sleep(for: .seconds(40))
        }
        #expect(meter.violations == [])
        #expect(emulator.devices.allSatisfy { $0.connectionCount == 0 })
    }
}

/// An app that scans for a meter, connects, writes to it and follows its values, and begins again after each failure.
///
/// It checks the rules of its callbacks: each command has one answer, or its link ends; nothing follows the end.
private final class MeterApp: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, @unchecked Sendable {
    // Invariant: used on `queue` alone, except for the reports.
    private let queue = DispatchQueue(label: "meter app")
    private let clock: EmulatorClock
    private let start: EmulatorClock.Instant
    private var manager: CBCentralManager?
    private var meter: CBPeripheral?
    private var isConnected = false
    private var unanswered: [String] = []
    private var since = Duration.zero
    private let reports = Lock((violations: [String](), lastValue: Duration.zero))

    var violations: [String] { reports.withLock { $0.violations } }
    var lastValue: Duration { reports.withLock { $0.lastValue } }

    init(clock: EmulatorClock) {
        self.clock = clock
        start = clock.now
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    private var now: Duration { start.duration(to: clock.now) }

    private func require(_ condition: Bool, _ rule: String) {
        if !condition { reports.withLock { $0.violations.append("\(now): \(rule)") } }
    }

    /// Cancels a connection without a value for half a minute, as apps do, because a connect has no end of its own.
    ///
    /// The block does not run later, because virtual time does not wait for a dispatch queue.
    func watch() {
        queue.sync {
            guard let meter, now - max(since, lastValue) > .seconds(30), manager?.state == .poweredOn else { return }
            let wasConnected = isConnected
            manager?.cancelPeripheralConnection(meter)
            // The cancellation of an attempt is answered by a disconnection only if there was a link.
            if !wasConnected { search() }
            since = now
        }
    }

    func stop() {
        queue.sync {
            if manager?.state == .poweredOn {
                if let meter { manager?.cancelPeripheralConnection(meter) }
                manager?.stopScan()
            }
            meter = nil
            manager = nil
        }
    }

    private func search() {
        meter = nil
        since = now
        if manager?.state == .poweredOn { manager?.scanForPeripherals(withServices: [CBUUID(string: "FFF0")]) }
    }

    private func send(_ command: String) { unanswered.append(command) }

    private func answered(_ command: String, _ peripheral: CBPeripheral) {
        require(isConnected && peripheral === meter, "\(command) came without a link")
        guard let index = unanswered.firstIndex(of: command) else { return require(false, "\(command) came twice") }
        unanswered.remove(at: index)
    }

    // MARK: The manager

    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        if central.state == .poweredOn { return search() }
        // The links have ended with the adapter.
        isConnected = false
        unanswered = []
        meter = nil
    }

    func centralManager(
        _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        require(central.state == .poweredOn, "a discovery without an adapter")
        guard meter == nil else { return }
        meter = peripheral
        since = now
        peripheral.delegate = self
        central.stopScan()
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        guard peripheral === meter else { return }
        require(!isConnected, "two connections of one device")
        require(peripheral.state == .connected, "a connection in the state \(peripheral.state)")
        isConnected = true
        since = now
        send("services")
        peripheral.discoverServices([CBUUID(string: "FFF0")])
    }

    func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
        guard peripheral === meter else { return }
        require(!isConnected, "a link failed to be made")
        search()
    }

    func centralManager(
        _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
    ) {
        guard peripheral === meter else { return }
        require(isConnected, "a disconnection without a link")
        require(peripheral.state == .disconnected, "a disconnection in the state \(peripheral.state)")
        isConnected = false
        unanswered = []
        search()
    }

    // MARK: The device

    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
        answered("services", peripheral)
        guard let service = peripheral.services?.first else { return }
        send("characteristics")
        peripheral.discoverCharacteristics(nil, for: service)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?
    ) {
        answered("characteristics", peripheral)
        guard let value = service.characteristics?.first else { return }
        send("notify")
        peripheral.setNotifyValue(true, for: value)
        for _ in 0..<2 {
            send("write")
            peripheral.writeValue(Data([1]), for: value, type: .withResponse)
        }
        send("rssi")
        peripheral.readRSSI()
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
    ) { answered("notify", peripheral) }

    func peripheral(
        _ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) { answered("write", peripheral) }

    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        answered("rssi", peripheral)
    }

    func peripheral(
        _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
    ) {
        require(isConnected && peripheral === meter, "a value came without a link")
        reports.withLock { $0.lastValue = now }
    }
}
