import BluetoothBackend
import BluetoothSupport
import BluetoothTracing

/// The notes that the trace of `COREBLUETOOTH_TRACE` contains besides commands and events: the controls of emulators,
/// faults, lost packets, and vain requests of managers.
enum EnvironmentTraceNotes {
    private struct State {
        var emulators = ObservedEmulators()
        /// The taps, which retain their emulators.
        var taps: [EmulatorTap] = []
    }

    private static let state = Lock(State())

    /// Starts the notes of an emulator that has a first manager.
    static func begin(_ emulator: Emulator) {
        guard let trace = EnvironmentTrace.shared, state.withLock({ $0.emulators.insert(emulator) }) != nil else {
            return
        }
        let tap = add(to: trace, from: emulator)
        state.withLock { $0.taps.append(tap) }
    }

    /// Adds the notes of an emulator to a trace, until the tap ends.
    static func add(to trace: BackendTrace, from emulator: Emulator) -> EmulatorTap {
        let notes = Lock(TraceNotes())
        return emulator.tap([.notes, .devices, .links]) { event in
            if let entry = notes.withLock({ $0.entry(for: event) }) { trace.add(entry) }
        }
    }
}

/// The trace entries for tap events other than the commands and events of managers.
struct TraceNotes {
    /// The names of devices, and the devices of links, by number.
    private var devices: [UInt32: String] = [:]
    private var links: [UInt32: UInt32] = [:]
    private var hasBegun = false

    mutating func entry(for event: TapEvent) -> TraceEntry? {
        switch event.kind {
        case .began: hasBegun = true
        case .deviceAdded(let device), .deviceChanged(let device): devices[device.number] = device.name
        case .deviceRemoved(let device): devices[device] = nil
        case .connectionOpened(let connection): links[connection.link] = connection.device
        case .connectionClosed(let link, side: .central, _): links[link] = nil
        case .note(let text): return entry(noting: text, event.time)
        case .control(let source, let text, _, _):
            return TraceEntry(
                time: event.time, direction: .command, category: .simulation, source: source, text: text)
        case .faultApplied(let device, let step, let effect):
            return entry(.fault(step, effect), event.time, of: devices[device])
        case .packetsLost(let link, let count):
            return entry(.losses(count), event.time, of: links[link].flatMap { devices[$0] })
        case .dropped(let count): return entry(noting: "\(count) notes dropped: too many at once", event.time)
        default: break
        }
        return nil
    }

    private func entry(noting text: String, _ time: Duration) -> TraceEntry? {
        hasBegun ? TraceEntry(time: time, category: .note, text: text) : nil
    }

    private func entry(_ note: TraceNote, _ time: Duration, of device: String?) -> TraceEntry? {
        hasBegun ? TraceEntry(time: time, category: .note, device: device, text: note.text(of: device)) : nil
    }
}
