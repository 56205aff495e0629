import BluetoothBackend
import DequeModule

/// What happened in the world, as values; reading the trace writes the text.
struct Trace: Sendable {
    private enum Entry: Sendable {
        /// An input, and the name of the device that it concerns.
        case input(WorldInput, String?)
        case central(Ref<Manager>, CentralEvent)
        case peripheral(Ref<Manager>, PeripheralEvent)
        case pairing(Ref<Manager>, PairingEvent)
        case note(String)

        /// The command or event of a role.
        var message: (role: String, manager: Ref<Manager>, any TraceMessage)? {
            switch self {
            case .input(.central(let manager, let command), _): ("central", manager, command)
            case .input(.peripheral(let manager, let command), _): ("peripheral", manager, command)
            case .input(.pairing(let manager, let command), _): ("pairing", manager, command)
            case .central(let manager, let event): ("central", manager, event)
            case .peripheral(let manager, let event): ("peripheral", manager, event)
            case .pairing(let manager, let event): ("pairing", manager, event)
            case .input, .note: nil
            }
        }
    }

    private let limit: Int
    private var entries = Deque<(at: Nanoseconds, entry: Entry)>()
    /// The names that the entries before the first one gave.
    private var names = TraceNames()

    init(limit: Int) { self.limit = limit }

    /// Whether the trace records anything.
    var isOn: Bool { limit > 0 }

    /// One line each: `12.345678901 < central 1: read …`; `<` is an input of the world, `>` an output, `!` a note.
    var lines: [String] {
        var names = names
        return entries.map { Self.line($0.at, $0.entry, &names) }
    }

    mutating func record(_ input: WorldInput, device: String?, at now: Nanoseconds) {
        if isOn { append(.input(input, device), now) }
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

    /// Records what no event reports, such as a dropped command.
    mutating func note(_ text: @autoclosure () -> String, at now: Nanoseconds) {
        if isOn { append(.note(text()), now) }
    }

    private mutating func append(_ entry: Entry, _ now: Nanoseconds) {
        if entries.count >= limit, let (_, manager, message) = entries.removeFirst().entry.message {
            names.learn(message, role: Int(manager.serial))
        }
        entries.append((now, entry))
    }

    private static func line(_ now: Nanoseconds, _ entry: Entry, _ names: inout TraceNames) -> String {
        let fraction = String(now % 1_000_000_000)
        let time = "\(now / 1_000_000_000)." + String(repeating: "0", count: 9 - fraction.count) + fraction
        return switch entry {
        case .note(let text): "\(time) ! \(text)"
        case .input(let input, let device): "\(time) < \(text(of: entry, &names) ?? input.trace(device: device))"
        case .central, .peripheral, .pairing: "\(time) > \(text(of: entry, &names) ?? "")"
        }
    }

    private static func text(of entry: Entry, _ names: inout TraceNames) -> String? {
        guard let (role, manager, message) = entry.message else { return nil }
        return "\(role) \(manager.serial): "
            + names.line(for: message, role: Int(manager.serial), showsValues: true)
    }
}
