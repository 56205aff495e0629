import BluetoothEmulator
import CoreBluetoothMock
import CoreBluetoothTesting
import Testing

/// An app with one manager, which records its callbacks as lines and retains what it finds.
final class Client: CBMCentralManagerDelegate, CBMPeripheralDelegate, @unchecked Sendable {
    // Invariant: accessed under the lock.
    private let lock = NSLock()
    private var lines: [String] = []
    private var found: [UUID: any CBMPeripheral] = [:]
    private var dictionaries: [[String: Any]] = []
    private var strengths: [Int] = []
    private var lastError: (any Error)?

    private(set) var manager: CBMCentralManager!

    init(_ make: (Client) -> CBMCentralManager = { CBMCentralManagerMock(delegate: $0, queue: nil) }) {
        manager = make(self)
    }

    /// Returns a client with a manager in a world with these specs, once the adapter is on.
    static func on(_ specs: CBMPeripheralSpec..., emulator: Emulator = .current) async throws -> Client {
        CBMCentralManagerMock.simulatePeripherals(specs)
        CBMCentralManagerMock.simulatePowerOn()
        CBMCentralManagerMock.simulateRSSIDeviation(.none)
        let client = Client()
        try await emulator.advance(by: .milliseconds(200))
        _ = client.take()
        return client
    }

    // MARK: Records

    /// Takes the lines since the last call.
    func take() -> [String] {
        lock.lock()
        defer {
            lines = []
            lock.unlock()
        }
        return lines
    }

    /// The dictionaries of all reports.
    var reports: [[String: Any]] { lock.withLock { dictionaries } }
    /// The signal strengths of all reports and readings.
    var rssis: [Int] { lock.withLock { strengths } }
    /// The error of the last callback that had one.
    var error: (any Error)? { lock.withLock { lastError } }

    func peripheral(_ spec: CBMPeripheralSpec) -> (any CBMPeripheral)? { lock.withLock { found[spec.identifier] } }

    private func note(_ line: String, _ error: (any Error)? = nil) {
        lock.withLock {
            lines.append(error.map { "\(line): \(Self.text($0))" } ?? line)
            lastError = error ?? lastError
        }
    }

    private static func text(_ error: any Error) -> String {
        if let error = error as? CBMATTError { return "ATT \(error.code.rawValue)" }
        if let error = error as? CBMError { return "CB \(error.code.rawValue)" }
        return "\(error)"
    }

    // MARK: Steps of tests

    /// Scans until a spec is found.
    func find(_ spec: CBMPeripheralSpec, emulator: Emulator = .current) async throws -> any CBMPeripheral {
        manager.scanForPeripherals(withServices: nil)
        try await emulator.advance(by: .seconds(1))
        manager.stopScan()
        _ = take()
        return try #require(peripheral(spec))
    }

    /// Finds a spec, and connects to it.
    func connect(to spec: CBMPeripheralSpec, emulator: Emulator = .current) async throws -> any CBMPeripheral {
        let peripheral = try await find(spec)
        peripheral.delegate = self
        manager.connect(peripheral)
        try await emulator.advance(by: .seconds(1))
        #expect(take() == ["connected"])
        return peripheral
    }

    /// Connects to a spec, and discovers everything.
    func explore(_ spec: CBMPeripheralSpec, emulator: Emulator = .current) async throws -> any CBMPeripheral {
        try await explore(try await connect(to: spec))
    }

    /// Retrieves a spec that needs no scan, and connects to it.
    func retrieve(_ spec: CBMPeripheralSpec, emulator: Emulator = .current) async throws -> any CBMPeripheral {
        try await emulator.advance(by: .seconds(1))
        let peripheral = try #require(manager.retrievePeripherals(withIdentifiers: [spec.identifier]).first)
        peripheral.delegate = self
        manager.connect(peripheral)
        try await emulator.advance(by: .seconds(1))
        #expect(take().last == "connected")
        return peripheral
    }

    /// Discovers everything of a connected peripheral.
    func explore(
        _ peripheral: any CBMPeripheral, emulator: Emulator = .current
    ) async throws -> any CBMPeripheral {
        peripheral.discoverServices(nil)
        try await emulator.runUntilIdle()
        for service in peripheral.services ?? [] { peripheral.discoverCharacteristics(nil, for: service) }
        try await emulator.runUntilIdle()
        for characteristic in (peripheral.services ?? []).flatMap({ $0.characteristics ?? [] }) {
            peripheral.discoverDescriptors(for: characteristic)
        }
        try await emulator.runUntilIdle()
        _ = take()
        return peripheral
    }

    // MARK: CBMCentralManagerDelegate

    func centralManagerDidUpdateState(_ central: CBMCentralManager) { note("state \(central.state)") }

    func centralManager(_ central: CBMCentralManager, willRestoreState dict: [String: Any]) {
        let peripherals = dict[CBMCentralManagerRestoredStatePeripheralsKey] as? [any CBMPeripheral] ?? []
        for peripheral in peripherals {
            peripheral.delegate = self
            lock.withLock { found[peripheral.identifier] = peripheral }
        }
        note("restored \(peripherals.map { "\($0.state)" }.joined(separator: ", "))")
    }

    func centralManager(
        _ central: CBMCentralManager, didDiscover peripheral: any CBMPeripheral, advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        lock.withLock {
            found[peripheral.identifier] = peripheral
            dictionaries.append(advertisementData)
            strengths.append(RSSI.intValue)
        }
        note("found \(peripheral.name ?? "-")")
    }

    func centralManager(_ central: CBMCentralManager, didConnect peripheral: any CBMPeripheral) { note("connected") }

    func centralManager(
        _ central: CBMCentralManager, didFailToConnect peripheral: any CBMPeripheral, error: (any Error)?
    ) {
        note("failed", error)
    }

    func centralManager(
        _ central: CBMCentralManager, didDisconnectPeripheral peripheral: any CBMPeripheral,
        timestamp: CoreBluetoothMock.CFAbsoluteTime, isReconnecting: Bool, error: (any Error)?
    ) {
        note(isReconnecting ? "disconnected, reconnecting" : "disconnected", error)
    }

    func centralManager(
        _ central: CBMCentralManager, connectionEventDidOccur event: CBMConnectionEvent,
        for peripheral: any CBMPeripheral
    ) {
        note("event \(event)")
    }

    // MARK: CBMPeripheralDelegate

    func peripheralDidUpdateName(_ peripheral: any CBMPeripheral) { note("name \(peripheral.name ?? "-")") }

    func peripheral(_ peripheral: any CBMPeripheral, didModifyServices invalidatedServices: [CBMService]) {
        note("modified \(invalidatedServices.map(\.uuid.uuidString).joined(separator: ", "))")
    }

    func peripheral(_ peripheral: any CBMPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {
        lock.withLock { strengths.append(RSSI.intValue) }
        note("rssi", error)
    }

    func peripheral(_ peripheral: any CBMPeripheral, didDiscoverServices error: (any Error)?) {
        note("services", error)
    }

    func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverIncludedServicesFor service: CBMService, error: (any Error)?
    ) {
        note("included", error)
    }

    func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverCharacteristicsFor service: CBMService, error: (any Error)?
    ) {
        note("characteristics", error)
    }

    func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateValueFor characteristic: CBMCharacteristic, error: (any Error)?
    ) {
        note("value \((characteristic.value ?? Data()).map { String($0) }.joined(separator: " "))", error)
    }

    func peripheral(
        _ peripheral: any CBMPeripheral, didWriteValueFor characteristic: CBMCharacteristic, error: (any Error)?
    ) {
        note("written", error)
    }

    func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateNotificationStateFor characteristic: CBMCharacteristic,
        error: (any Error)?
    ) {
        note("notifying \(characteristic.isNotifying)", error)
    }

    func peripheral(
        _ peripheral: any CBMPeripheral, didDiscoverDescriptorsFor characteristic: CBMCharacteristic,
        error: (any Error)?
    ) {
        note("descriptors", error)
    }

    func peripheral(
        _ peripheral: any CBMPeripheral, didUpdateValueFor descriptor: CBMDescriptor, error: (any Error)?
    ) {
        note("descriptor \(descriptor.value ?? "-")", error)
    }

    func peripheral(
        _ peripheral: any CBMPeripheral, didWriteValueFor descriptor: CBMDescriptor, error: (any Error)?
    ) {
        note("descriptor written", error)
    }

    func peripheralIsReady(toSendWriteWithoutResponse peripheral: any CBMPeripheral) { note("ready") }

    func peripheral(_ peripheral: any CBMPeripheral, didOpen channel: CBML2CAPChannel?, error: (any Error)?) {
        note(channel == nil ? "no channel" : "channel", error)
    }
}
