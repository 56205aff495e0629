package import BluetoothBackend
import BluetoothSupport
import BluetoothTracing
import DequeModule

/// A message of a central manager in a trace, or a fault that a step of it met.
package struct CentralTraceMessage: Sendable {
    package enum Content: Sendable {
        case command(CentralCommand)
        case event(CentralEvent)
        case fault(DeviceFault.Step, DeviceFault.Effect)
    }

    package var time: Duration
    /// The number of the manager; 0 for a fault.
    package var manager: UInt32
    package var content: Content

    package init(time: Duration, manager: UInt32, content: Content) {
        (self.time, self.manager, self.content) = (time, manager, content)
    }
}

/// The inputs and outputs of a world as values, which are formatted when the trace is read.
struct Trace: Sendable {
    private enum Step: Sendable {
        /// An input, and the name of the device or host that it concerns.
        case input(WorldInput, String?)
        case output(WorldOutput)
        /// A note, and the name of the device that it concerns.
        case note(String, String?)
        case incident(TraceNote, String?)
    }

    /// The number of steps that are kept; older ones are dropped.
    var limit: Int {
        didSet { while steps.count > max(0, limit) { learn(steps.removeFirst().step) } }
    }
    private var steps = Deque<(at: Nanoseconds, step: Step)>()
    /// The names that the dropped steps defined.
    private var names = TraceNames()
    /// The roles and hosts of the last 1,024 managers, by the managers' serial numbers.
    private var managers = LRUCache<UInt32, (role: Manager.Role, host: String)>(limit: 1024)

    init(limit: Int) { self.limit = limit }

    var isOn: Bool { limit > 0 }

    var entries: [TraceEntry] {
        var names = names
        return steps.compactMap { entry($0.step, at: .nanoseconds($0.at), &names) }
    }

    mutating func record(_ input: WorldInput, of name: String?, at now: Nanoseconds) {
        if isOn { append(.input(input, name), now) }
    }

    mutating func record(_ output: WorldOutput, at now: Nanoseconds) {
        if isOn { append(.output(output), now) }
    }

    /// Records what no event reports, such as a dropped command.
    mutating func log(_ text: @autoclosure () -> String, of device: String?, at now: Nanoseconds) {
        if isOn { append(.note(text(), device), now) }
    }

    /// Records an incident at a device that no event reports.
    mutating func log(_ note: TraceNote, of device: String?, at now: Nanoseconds) {
        if isOn { append(.incident(note, device), now) }
    }

    /// Remembers the role and the host of a manager.
    mutating func learn(_ manager: Ref<Manager>, _ role: Manager.Role, on host: String) {
        if isOn { managers.insert((role, host), for: manager.serial) }
    }

    private mutating func append(_ step: Step, _ now: Nanoseconds) {
        if steps.count >= limit { learn(steps.removeFirst().step) }
        steps.append((now, step))
    }

    /// Learns the names in a dropped step.
    private mutating func learn(_ step: Step) {
        switch step {
        case .input(.central(let manager, let command), _): names.learn(command, role: Int(manager.serial))
        case .input(.peripheral(let manager, let command), _): names.learn(command, role: Int(manager.serial))
        case .output(.central(let manager, let event)): names.learn(event, role: Int(manager.serial))
        case .output(.peripheral(let manager, let event)): names.learn(event, role: Int(manager.serial))
        case .input, .output, .note, .incident: break
        }
    }

    /// The messages of central managers and the faults that steps met, without text.
    var centralMessages: [CentralTraceMessage] {
        steps.compactMap { time, step in
            let content: CentralTraceMessage.Content
            var number: UInt32 = 0
            switch step {
            case .input(.central(let manager, let command), _):
                (number, content) = (manager.serial, .command(command))
            case .output(.central(let manager, let event)): (number, content) = (manager.serial, .event(event))
            case .incident(.fault(let step, let effect), _): content = .fault(step, effect)
            default: return nil
            }
            return CentralTraceMessage(time: .nanoseconds(time), manager: number, content: content)
        }
    }

    // MARK: Entries

    private func entry(_ step: Step, at time: Duration, _ names: inout TraceNames) -> TraceEntry? {
        switch step {
        case .note(let text, let device): return TraceEntry(time: time, category: .note, device: device, text: text)
        case .incident(let note, let device):
            return TraceEntry(time: time, category: .note, device: device, text: note.text(of: device))
        case .input(.central(let manager, let command), _): return entry("central", manager, command, time, &names)
        case .input(.peripheral(let manager, let command), _):
            return entry("peripheral", manager, command, time, &names)
        case .input(.pairing(let manager, let command), _): return entry("pairing", manager, command, time, &names)
        case .output(.central(let manager, let event)): return entry("central", manager, event, time, &names)
        case .output(.peripheral(let manager, let event)): return entry("peripheral", manager, event, time, &names)
        case .output(.pairing(let manager, let event)): return entry("pairing", manager, event, time, &names)
        case .input(.activate(let manager), _):
            let known = managers[manager.serial]
            return TraceEntry(
                TraceLine("activate", showsValues: true), at: time, direction: .command, category: .configuration,
                host: known?.host, source: "\(known.map { "\($0.role)" } ?? "manager") \(manager.serial)")
        case .input(let input, let name):
            guard var control = input.trace(of: name) else { return nil }
            if input.device != nil { control.line.concern(device: name) }
            return TraceEntry(
                control.line, at: time, direction: .command, category: .simulation, host: nil, source: control.source)
        case .output: return nil
        }
    }

    private func entry<Message: TraceMessage>(
        _ role: String, _ manager: Ref<Manager>, _ message: Message, _ time: Duration, _ names: inout TraceNames
    ) -> TraceEntry {
        TraceEntry(
            names.line(for: message, role: Int(manager.serial), showsValues: true), at: time,
            direction: Message.direction, category: message.category, host: managers[manager.serial]?.host,
            source: "\(role) \(manager.serial)")
    }
}
