/// Why driving virtual time failed.
public enum EmulatorError: Error, Hashable, Sendable {
    /// So many steps happened at one instant that it will hardly end; with the last lines of the trace.
    case livelock(at: Duration, trace: [String])
    /// A receiver did not handle its events within ten real seconds; names its queue.
    case unsettled(label: String)
    /// A ``TimeHold`` was not released within ten real seconds.
    case held
    /// The condition did not come true within the given virtual time.
    case conditionNotMet(within: Duration)
    /// The world was not idle within the given virtual time.
    case notIdle(within: Duration)
    /// The emulator lives by real time, which nobody drives.
    case notVirtual
    /// Somebody drives this emulator already; virtual time has one driver at a time.
    case alreadyDriven
}

extension EmulatorError: CustomStringConvertible {
    /// One line and, for a livelock, the end of the trace.
    public var description: String {
        switch self {
        case .livelock(let at, let trace):
            "The emulated world does not leave the instant \(at). Its last steps:\n" + trace.joined(separator: "\n")
        case .unsettled(let label):
            "The receiver \"\(label)\" did not handle its events within ten seconds: is its queue blocked?"
        case .held: "Virtual time was held for more than ten seconds: is a hold not released?"
        case .conditionNotMet(let limit): "The condition did not come true within \(limit) of virtual time."
        case .notIdle(let limit): "The emulated world was not idle within \(limit) of virtual time."
        case .notVirtual: "Only an emulator with virtual time can be driven."
        case .alreadyDriven:
            "Virtual time is being driven already. Inside a callback, do not drive: return, and let the driver go on."
        }
    }
}
