import BluetoothBackend
import BluetoothSupport
import DequeModule

/// The parts of a world that all layers share: its settings, time, outputs, random numbers and numbering.
struct WorldContext: Sendable {
    var configuration: EmulatorConfiguration
    /// The chance that interference destroys a packet, on the air and on links.
    var interference = 0.0
    var timeline: Timeline
    var outputs = Deque<WorldOutput>()
    var trace: Trace
    /// The kinds of events that the taps request; empty without a tap.
    var tapped = TapKinds()
    var random: RandomStreams
    var identifiers = IdentifierGenerator()
    var receivers = OutputReceivers()

    init(configuration: EmulatorConfiguration, seed: UInt64, origin: Date, traceLimit: Int) {
        self.configuration = configuration
        timeline = Timeline(origin: origin)
        trace = Trace(limit: traceLimit)
        random = RandomStreams(seed: seed)
    }

    var queue: WorldQueue {
        @inline(__always) _read { yield timeline.queue }
        @inline(__always) _modify { yield &timeline.queue }
    }

    var now: Nanoseconds { timeline.queue.now }

    var date: Date { timeline.date }

    // MARK: Events of managers

    mutating func emit(_ event: CentralEvent, to manager: Ref<Manager>) { emit(.central(manager, event)) }

    mutating func emit(_ event: PeripheralEvent, to manager: Ref<Manager>) {
        if receivers.contains(manager) { emit(.peripheral(manager, event)) }
    }

    /// Tells a peripheral manager that an operation failed.
    mutating func fail(_ operation: OperationID, _ code: BackendError.Code, _ name: String, of manager: Ref<Manager>) {
        let error = BackendError(code, operation: name)
        emit(PeripheralEvent.operationFailed(operation: operation, error: error), to: manager)
    }

    mutating func emit(_ event: PairingEvent, to manager: Ref<Manager>) {
        if receivers.contains(manager) { emit(.pairing(manager, event)) }
    }

    private mutating func emit(_ output: WorldOutput) {
        trace.record(output, at: now)
        outputs.append(output)
    }

    // MARK: Notes, and events of taps

    /// Reports an event, if a tap wants its kind.
    ///
    /// Without an interested tap, a report costs making the value, draws no random number and schedules nothing. If the
    /// value is expensive or the event is frequent, the caller checks ``tapped`` first.
    mutating func report(_ kind: TapEvent.Kind) {
        if kind.kinds.isSubset(of: tapped) { outputs.append(.tapped(event(kind))) }
    }

    func event(_ kind: TapEvent.Kind) -> TapEvent { TapEvent(time: .nanoseconds(now), kind: kind) }

    /// Whether the trace or a tap records notes.
    var isNoting: Bool { trace.isOn || tapped.contains(.notes) }

    /// Records what no event reports, such as a dropped command.
    ///
    /// - Parameter device: The name of the device that the note concerns, if any.
    mutating func log(_ text: @autoclosure () -> String, of device: String? = nil) {
        guard isNoting else { return }
        let text = text()
        trace.log(text, of: device, at: now)
        report(.note(text))
    }

    /// Records an input in the trace, and reports a control to the taps.
    ///
    /// - Parameter name: The name of the device or host that the input controls.
    mutating func record(_ input: WorldInput, of name: String?) {
        trace.record(input, of: name, at: now)
        if tapped.contains(.notes), let (source, line) = input.trace(of: name) {
            report(.control(source: source, line.text, words: input.words, device: input.device?.serial))
        }
    }
}

/// The managers that exist, so that events to removed ones are dropped.
struct OutputReceivers: Sendable {
    /// The serial numbers, by slot.
    private var serials: [UInt32] = []

    func contains(_ manager: Ref<Manager>) -> Bool {
        Int(manager.slot) < serials.count && serials[Int(manager.slot)] == manager.serial
    }

    mutating func insert(_ manager: Ref<Manager>) {
        let missing = Int(manager.slot) + 1 - serials.count
        if missing > 0 { serials.append(contentsOf: repeatElement(0, count: missing)) }
        serials[Int(manager.slot)] = manager.serial
    }

    mutating func remove(_ manager: Ref<Manager>) { if contains(manager) { serials[Int(manager.slot)] = 0 } }
}
