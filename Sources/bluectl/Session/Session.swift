import BluetoothProfiles
import CoreBluetoothPackage

/// A conversation with a radio through the CoreBluetooth classes: delegate callbacks as `await`.
///
/// One step is awaited at a time, each with a deadline. All runs on the main actor, whose queue is the manager's.
@MainActor
final class Session: NSObject {
    /// What is awaited, and who waits.
    private struct Waiter {
        let step: Step
        let limit: Duration?
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// How long the end of a conversation may take.
    private static let closingLimit = Duration.seconds(5)

    let central: CBCentralManager
    let console: Console
    /// How long one step may take.
    let limit: Duration

    /// Who hears of each report of a scan.
    var onDiscovery: ((CBPeripheral, DeviceRecord) -> Void)?
    /// Who hears of each notification.
    var onNotification: ((CBCharacteristic, Data) -> Void)?

    private var waiter: Waiter?
    private var timer: Task<Void, Never>?
    private(set) var isInterrupted = false
    private var isClosing = false
    private var scan: ScanSettings?
    private var peripheral: CBPeripheral?
    private var subscribed: CBCharacteristic?

    /// - Parameters:
    ///   - selection: The radio.
    ///   - limit: How long one step may take.
    init(_ selection: CBBackendSelection, console: Console, limit: Duration) {
        self.console = console
        self.limit = limit
        central = CBCentralManager(backend: selection, delegate: nil, queue: .main)
        super.init()
        // Callbacks come through the main queue, so none has come yet.
        central.delegate = self
    }

    /// "emulator" where the radio is that, for records; nil for a real one.
    var emulatedBackend: String? { central.backendName == "emulator" ? central.backendName : nil }

    /// Whether the link is up.
    var isConnected: Bool { peripheral?.state == .connected }

    // MARK: Steps

    /// Begins something and waits for its answer.
    ///
    /// - Throws: The answer's error as a `Failure`, `Interruption`, or a failure with status `timedOut`.
    func perform(_ step: Step, within limit: Duration?, _ begin: () -> Void = {}) async throws {
        if isInterrupted, !isClosing { throw Interruption() }
        defer { timer?.cancel() }
        try await withCheckedThrowingContinuation { continuation in
            waiter = Waiter(step: step, limit: limit, continuation: continuation)
            restartTimer()
            begin()
        }
    }

    /// Begins something and waits for its answer, as long as one step may take.
    func perform(_ step: Step, _ begin: () -> Void = {}) async throws {
        try await perform(step, within: limit, begin)
    }

    /// Whether this step is awaited now.
    func isAwaiting(_ step: Step) -> Bool { waiter?.step == step }

    /// Ends the wait for a step, if it is awaited.
    func answer(_ step: Step, error: (any Error)? = nil) {
        guard isAwaiting(step) else { return }
        guard let error else { return resume(with: .success(())) }
        resume(with: .failure(error as? Failure ?? Failure(.failed, ErrorText.of(error))))
    }

    /// Ends whatever is awaited.
    func fail(_ error: any Error) { resume(with: .failure(error)) }

    /// Gives the awaited step its whole time again.
    func restartTimer() {
        timer?.cancel()
        guard let waiter, let limit = waiter.limit else { return }
        timer = Task { [weak self] in
            do {
                try await Task.sleep(for: limit)
            } catch {
                return
            }
            self?.resume(
                with: .failure(
                    Failure(.timedOut, "timed out after \(Self.text(limit)) \(waiter.step.phrase)")))
        }
    }

    private func resume(with result: Result<Void, any Error>) {
        guard let waiter else { return }
        self.waiter = nil
        timer?.cancel()
        waiter.continuation.resume(with: result)
    }

    private static func text(_ limit: Duration) -> String {
        let (seconds, attoseconds) = limit.components
        guard attoseconds != 0 else { return "\(seconds) s" }
        return Decimals.fixed(Double(seconds) + Double(attoseconds) / 1e18, 1) + " s"
    }

    /// The user wants to stop: what is awaited ends with `Interruption`, and so does all that would begin.
    func interrupt() {
        guard !isInterrupted else { return }
        isInterrupted = true
        if !isClosing { fail(Interruption()) }
    }

    // MARK: Power

    /// Waits until the radio is on.
    ///
    /// - Throws: A failure with the one line that says what to do, if it is off, missing or forbidden.
    func powerOn() async throws {
        console.progress("Waiting for the radio…")
        if central.state == .unknown || central.state == .resetting { try await perform(.state) }
        guard central.state == .poweredOn else { throw RadioState.failure(central.state) }
        Diagnostics.open()
        console.clearProgress()
        if emulatedBackend != nil { console.note("EMULATED: the devices of this radio are not real") }
    }

    /// The state has changed.
    func stateChanged() {
        let state = central.state
        switch state {
        case .unknown: return
        case .resetting: if isAwaiting(.state) || scan != nil { return }
        case .poweredOn: if let scan { start(scan) }
        default: break
        }
        if isAwaiting(.state) { return answer(.state) }
        guard state != .poweredOn, waiter != nil else { return }
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
        isClosing = true
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
