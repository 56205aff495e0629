import CoreBluetoothPackage

/// A conversation with a radio in the central role.
@MainActor
final class Session: NSObject, RadioSession {
    /// How long the end of a conversation may take.
    private static let closingLimit = Duration.seconds(5)

    let radio: CBBackendSelection
    let central: CBCentralManager
    let console: Console
    let steps: StepWaiter

    /// Who hears of each report of a scan.
    var onDiscovery: ((CBPeripheral, DeviceRecord) -> Void)?
    /// Who hears of each notification.
    var onNotification: ((CBCharacteristic, Data) -> Void)?
    /// Who hears of links between the system and devices.
    var onConnectionEvent: ((CBPeripheral, CBConnectionEvent) -> Void)?
    /// Who hears of each state; while there is somebody, no state is a failure.
    var onState: ((CBManagerState) -> Void)?

    private var scan: ScanSettings?
    private var peripheral: CBPeripheral?
    private var subscribed: CBCharacteristic?

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

    /// Connects.
    func connect(_ peripheral: CBPeripheral) async throws {
        self.peripheral = peripheral
        peripheral.delegate = self
        console.progress("Connecting to \(peripheral.name.map(PrintableText.of) ?? peripheral.identifier.uuidString)…")
        try await perform(.connection) { central.connect(peripheral) }
        console.clearProgress()
    }

    /// Turns notifications on, until the session closes.
    func subscribe(to characteristic: CBCharacteristic) async throws {
        guard let peripheral else { return }
        subscribed = characteristic
        try await perform(.notificationState(ObjectIdentifier(characteristic))) {
            peripheral.setNotifyValue(true, for: characteristic)
        }
    }

    /// Ends all that was begun: notifications, scan, connection.
    func close() async {
        steps.isClosing = true
        if central.isScanning { stopScan() }
        guard let peripheral, central.state == .poweredOn else { return }
        do {
            if let subscribed, peripheral.state == .connected, subscribed.isNotifying {
                let step = Step.notificationState(ObjectIdentifier(subscribed))
                try await perform(step, within: Self.closingLimit) { peripheral.setNotifyValue(false, for: subscribed) }
            }
            if peripheral.state != .disconnected {
                try await perform(.disconnection, within: Self.closingLimit) {
                    central.cancelPeripheralConnection(peripheral)
                }
            }
        } catch {
            console.note("the connection did not end cleanly: \(error)")
        }
    }
}
