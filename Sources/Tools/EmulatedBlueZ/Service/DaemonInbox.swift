#if os(Linux)
import BluetoothBackend

/// The inputs of an emulated daemon that are not handled yet.
///
/// Pure.
struct DaemonInbox: Sendable {
    /// The time at which new inputs must be handled.
    enum Urgency: Int, Sendable {
        /// The time that is already scheduled.
        case none
        /// A moment later, because more inputs may follow.
        case soon
        case now
    }

    private var inputs: [DaemonInput] = []
    private var arranged = Urgency.none

    mutating func append(_ input: DaemonInput) -> Urgency {
        inputs.append(input)
        let urgency: Urgency = input.isReport ? .soon : .now
        guard urgency.rawValue > arranged.rawValue else { return .none }
        arranged = urgency
        return urgency
    }

    mutating func takeAll() -> [DaemonInput] { exchange(&self, with: DaemonInbox()).inputs }
}

extension DaemonInput {
    /// Whether the input may come from a central that the daemon does not know yet.
    var isAboutCentrals: Bool {
        switch self {
        case .peripheral, .pairing: true
        default: false
        }
    }

    /// Whether the input is an advertising packet; thousands may arrive in a second.
    fileprivate var isReport: Bool {
        if case .central(_, .discovered) = self { true } else { false }
    }
}
#endif
