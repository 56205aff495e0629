#if Emulator
import AsyncBluetooth
import BluetoothBackend
import BluetoothEmulator
import BluetoothRecording
import BluetoothSupport
import BluetoothTracing
import CoreBluetoothClasses

/// A recording of one device, with a separate central manager.
@MainActor
struct LiveRecording {
    /// The time for which advertisements are heard before the connection.
    private static let advertisingTime = Duration.seconds(2)

    private let role: CentralRole
    private let output: RecordingOutput
    private let subscriptions: RecordCommand.Subscriptions
    private let time: Duration
    private let collected: CollectedRecording

    /// - Parameter role: The role whose backend is used.
    init(
        _ role: CentralRole, _ output: RecordingOutput, subscriptions: RecordCommand.Subscriptions, time: Duration,
        keepsIdentity: Bool
    ) {
        let collected = CollectedRecording(isRedacted: !keepsIdentity, output.recordingPath)
        let observer = RecordingObserver(keepsIdentity: keepsIdentity) { collected.add($0) }
        let backend = ObservingBackend(around: role.backend.backend, observer.observe)
        self.role = CentralRole(.custom(backend), console: role.console, limit: role.limit)
        self.output = output
        self.subscriptions = subscriptions
        self.time = time
        self.collected = collected
    }

    /// Records until the time is over, the user interrupts or the link ends, and writes the recording so far.
    func record(_ query: DeviceQuery) async throws {
        try await role.waitUntilPoweredOn()
        let peripheral = try await role.find(query)
        var failure: (any Error)?
        do {
            try await listenToAdvertisements()
            try await role.connect(peripheral)
            try await observe(peripheral)
        } catch {
            failure = error
        }
        // The task may be cancelled, and closing takes steps that wait.
        await Task { await role.close() }.value
        role.console.clearProgress()
        guard let recording = collected.recording else {
            throw failure ?? Failure(.failed, "the device was not connected: nothing was recorded")
        }
        if let failure, !(failure is CancellationError) {
            role.console.warn("the recording ended early: \(failure)")
        }
        if collected.isFull {
            role.console.warn("left out: what happened after \(DeviceRecording.maximumEvents) events")
        }
        try output.write(recording, collected)
        if let failure, !(failure is CancellationError) { throw failure }
    }

    private func listenToAdvertisements() async throws {
        role.console.progress("Listening to advertisements…")
        let central = role.central
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for try await _ in central.scan(allowDuplicates: true) {} }
            group.addTask { try await Task.sleep(for: Self.advertisingTime) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func observe(_ peripheral: Peripheral) async throws {
        let services = try await role.discover(peripheral)
        let characteristics = services.flatMap(\.characteristics)
        for characteristic in characteristics {
            role.console.progress("Reading \(AttributeText.label(characteristic.uuid))…")
            let descriptors = try await role.descriptors(of: characteristic, at: peripheral)
            if characteristic.properties.contains(.read) {
                _ = try await role.whereAllowed(by: peripheral) {
                    try await role.read(characteristic, of: peripheral)
                }
            }
            for descriptor in descriptors where descriptor.isReadable {
                _ = try await role.whereAllowed(by: peripheral) { try await role.read(descriptor, of: peripheral) }
            }
        }
        var values: [ValueSequence<NotifiedValue>] = []
        for characteristic in characteristics where isWanted(characteristic) {
            let sequence = try await role.whereAllowed(by: peripheral) {
                try await role.subscribe(to: [characteristic], of: peripheral)
            }
            if let sequence { values.append(sequence) }
        }
        role.console.progress("Listening…")
        try await listen(to: values, of: peripheral)
    }

    private func isWanted(_ characteristic: DiscoveredCharacteristic) -> Bool {
        guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else { return false }
        switch subscriptions {
        case .all: return true
        case .none: return false
        case .only(let uuids): return uuids.contains { $0 == characteristic.uuid.bluetoothUUID }
        }
    }

    /// Waits until the time is over or the link ends; the observer receives the values.
    private func listen(to values: [ValueSequence<NotifiedValue>], of peripheral: Peripheral) async throws {
        let time = time
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sequence in values { group.addTask { for try await _ in sequence {} } }
            group.addTask { try await Task.sleep(for: time) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

extension DiscoveredDescriptor {
    /// Whether it is read: a Client Characteristic Configuration belongs to the link, not to the device.
    fileprivate var isReadable: Bool { uuid.uuidString != CBUUIDClientCharacteristicConfigurationString }
}

/// The recording of the one device that a command connects to, in memory, and in a file as it grows.
final class CollectedRecording: Sendable {
    // The file is accessed only under the lock.
    private struct State: @unchecked Sendable {
        var recording: DeviceRecording?
        var file: RecordingFile?
        var problem: String?
        var isFull = false
    }

    private let isRedacted: Bool
    /// The path of a recording; nil if a world file is wanted.
    private let path: String?
    private let state = Lock(State())

    init(isRedacted: Bool, _ path: String?) {
        self.isRedacted = isRedacted
        self.path = path
    }

    var recording: DeviceRecording? { state.withLock { $0.recording } }

    /// The reason that the file is missing or incomplete; nil if it is complete.
    var problem: String? { state.withLock { $0.problem } }

    /// Whether more happened than a recording has room for.
    var isFull: Bool { state.withLock { $0.isFull } }

    func add(_ part: RecordingObserver.Part) {
        state.withLock { state in
            for line in part.lines {
                switch line {
                case .device(let device, _):
                    if state.recording == nil { begin(device, part.backend, &state) }
                    state.recording?.device = device
                case .event(let event): append(event, &state)
                }
            }
            guard let file = state.file else { return }
            file.write(part.lines)
            if let reason = file.endReason { state.problem = "\(file.name) is not whole: \(reason)" }
        }
    }

    private func append(_ event: RecordedEvent, _ state: inout State) {
        state.isFull = state.recording?.events.count ?? 0 >= DeviceRecording.maximumEvents
        if !state.isFull { state.recording?.events.append(event) }
    }

    private func begin(_ device: PeripheralDescription, _ backend: String, _ state: inout State) {
        let source = DeviceRecording.Source.today(backend: backend, isRedacted: isRedacted)
        state.recording = DeviceRecording(device: device, source: source)
        guard let path else { return }
        do throws(OutputFileError) {
            state.file = try RecordingFile(path, source)
        } catch {
            state.problem = "no recording: \(error)"
        }
    }
}
#endif
