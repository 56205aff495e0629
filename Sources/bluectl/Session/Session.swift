import CoreBluetoothPackage

/// A conversation with a radio in the central role.
@MainActor
final class Session: NSObject, RadioSession {
    /// How long the end of a conversation may take.
    private static let closingLimit = Duration.seconds(5)

    let radio: CBBackendSelection
    let central: CBCentralManager
    var console: Console
    let steps: StepWaiter

    /// Who hears of each report of a scan.
    var onDiscovery: ((CBPeripheral, DeviceRecord) -> Void)?
    /// Who hears of each device that a scan met or that is connected to.
    var onHeard: ((CBPeripheral) -> Void)?
    /// Who hears of each notification.
    var onNotification: ((CBCharacteristic, Data) -> Void)?
    /// Who hears of links between the system and devices.
    var onConnectionEvent: ((CBPeripheral, CBConnectionEvent) -> Void)?
    /// Who hears of each state; while there is somebody, no state is a failure.
    var onState: ((CBManagerState) -> Void)?

    /// Who hears that a device is no longer connected, where no step waits.
    var onDisconnection: ((CBPeripheral, Failure) -> Void)?

    /// The signal strength that was read last, and the channel that was opened last.
    var lastRSSI: Int?
    var openedChannel: CBL2CAPChannel?

    private var scan: ScanSettings?
    /// The device that was connected last.
    private(set) var peripheral: CBPeripheral?
    /// All that are, or were, connected.
    private(set) var peripherals: [CBPeripheral] = []
    private var subscribed: [CBCharacteristic] = []

    init(_ radio: CBBackendSelection, console: Console, limit: Duration) {
        self.radio = radio
        self.console = console
        steps = StepWaiter(limit: limit)
        central = CBCentralManager(backend: radio, delegate: nil, queue: .main)
        super.init()
        // Callbacks come through the main queue, so none has come yet.
        central.delegate = self
    }

    var state: CBManagerState { central.state }

    var backendName: String { central.backendName }

    /// Whether the link is up.
    var isConnected: Bool { peripheral?.state == .connected }

    // MARK: Power

    /// The state has changed.
    func stateChanged() {
        onState?(state)
        switch state {
        case .unknown: return
        case .resetting: if isAwaiting(.state) || scan != nil { return }
        case .poweredOn: if let scan { start(scan) }
        default: break
        }
        if isAwaiting(.state) { return answer(.state) }
        guard state != .poweredOn, steps.isWaiting, onState == nil else { return }
        fail(state == .resetting ? Failure(.failed, "the Bluetooth service went away") : RadioState.failure(state))
    }

    // MARK: Scan

    /// Scans until `stopScan()`; begins anew when the radio comes back.
    func startScan(_ settings: ScanSettings = ScanSettings()) {
        scan = settings
        start(settings)
    }

    /// Ends the scan.
    func stopScan() {
        scan = nil
        if central.state == .poweredOn { central.stopScan() }
    }

    private func start(_ scan: ScanSettings) {
        let services = scan.services.isEmpty ? nil : scan.services.map { CBUUID($0) }
        central.scanForPeripherals(
            withServices: services, options: [CBCentralManagerScanOptionAllowDuplicatesKey: scan.allowsDuplicates])
    }

    // MARK: Link

    /// Connects, unless the device is connected already.
    ///
    /// - Parameter limit: How long it may take; nil for as long as it takes.
    func connect(_ peripheral: CBPeripheral, within limit: Duration?) async throws {
        self.peripheral = peripheral
        if !peripherals.contains(where: { $0 === peripheral }) { peripherals.append(peripheral) }
        peripheral.delegate = self
        onHeard?(peripheral)
        guard peripheral.state != .connected else { return }
        console.progress("Connecting to \(peripheral.name.map(PrintableText.of) ?? peripheral.identifier.uuidString)…")
        try await perform(.connection, within: limit) { central.connect(peripheral) }
        console.clearProgress()
    }

    /// As `connect(_:within:)`, as long as one step may take.
    func connect(_ peripheral: CBPeripheral) async throws { try await connect(peripheral, within: limit) }

    /// Gives a connection up.
    func disconnect(_ peripheral: CBPeripheral) async throws {
        guard peripheral.state != .disconnected else { return }
        try await perform(.disconnection, within: Self.closingLimit) {
            central.cancelPeripheralConnection(peripheral)
        }
    }

    /// Turns notifications on, until the command ends.
    func subscribe(to characteristic: CBCharacteristic) async throws {
        guard let peripheral else { return }
        subscribed.append(characteristic)
        try await perform(.notificationState(ObjectIdentifier(characteristic))) {
            peripheral.setNotifyValue(true, for: characteristic)
        }
    }

    /// Ends scan and notifications.
    func endCommand() async {
        steps.isClosing = true
        if central.isScanning { stopScan() }
        let characteristics = subscribed
        subscribed = []
        for characteristic in characteristics {
            guard central.state == .poweredOn, let peripheral = characteristic.service?.peripheral,
                peripheral.state == .connected, characteristic.isNotifying
            else { continue }
            await end {
                let step = Step.notificationState(ObjectIdentifier(characteristic))
                try await perform(step, within: Self.closingLimit) {
                    peripheral.setNotifyValue(false, for: characteristic)
                }
            }
        }
    }

    /// Ends all that was begun: notifications, scan, connections.
    func close() async {
        await endCommand()
        guard central.state == .poweredOn else { return }
        for peripheral in peripherals { await end { try await disconnect(peripheral) } }
    }

    private func end(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch {
            console.note("the connection did not end cleanly: \(error)")
        }
    }
}
