import BluetoothBackend
import DequeModule

/// What happened in the world, as values; text is made when it is asked for.
struct Trace: Sendable {
    private enum Entry: Sendable {
        case input(WorldInput)
        case central(Ref<Manager>, CentralEvent)
        case peripheral(Ref<Manager>, PeripheralEvent)
        case pairing(Ref<Manager>, PairingEvent)
        case note(String)
    }

    private let limit: Int
    private var entries = Deque<(at: Nanoseconds, entry: Entry)>()

    init(limit: Int) { self.limit = limit }

    /// Whether anything is kept.
    var isOn: Bool { limit > 0 }

    /// One line each: `12.345678901 < central 1 read(…)`; `<` came in, `>` went out.
    var lines: [String] { entries.map { Self.line($0.at, $0.entry) } }

    /// The last lines.
    func tail(_ count: Int) -> [String] { entries.suffix(count).map { Self.line($0.at, $0.entry) } }

    mutating func record(_ input: WorldInput, at now: Nanoseconds) {
        if isOn { append(.input(input), now) }
    }

    mutating func record(_ event: CentralEvent, to manager: Ref<Manager>, at now: Nanoseconds) {
        if isOn { append(.central(manager, event), now) }
    }

    mutating func record(_ event: PeripheralEvent, to manager: Ref<Manager>, at now: Nanoseconds) {
        if isOn { append(.peripheral(manager, event), now) }
    }

    mutating func record(_ event: PairingEvent, to manager: Ref<Manager>, at now: Nanoseconds) {
        if isOn { append(.pairing(manager, event), now) }
    }

    /// Something that nobody is told, such as a dropped command.
    mutating func note(_ text: @autoclosure () -> String, at now: Nanoseconds) {
        if isOn { append(.note(text()), now) }
    }

    private mutating func append(_ entry: Entry, _ now: Nanoseconds) {
        if entries.count >= limit { entries.removeFirst() }
        entries.append((now, entry))
    }

    private static func line(_ now: Nanoseconds, _ entry: Entry) -> String {
        let fraction = String(now % 1_000_000_000)
        let time = "\(now / 1_000_000_000)." + String(repeating: "0", count: 9 - fraction.count) + fraction
        switch entry {
        case .input(let input): return "\(time) < \(TraceFormat.text(input))"
        case .central(let manager, let event): return "\(time) > central \(manager.serial) \(TraceFormat.text(event))"
        case .peripheral(let manager, let event):
            return "\(time) > peripheral \(manager.serial) \(TraceFormat.text(event))"
        case .pairing(let manager, let event):
            return "\(time) > pairing \(manager.serial) \(TraceFormat.text(event))"
        case .note(let text): return "\(time) ! \(text)"
        }
    }
}
