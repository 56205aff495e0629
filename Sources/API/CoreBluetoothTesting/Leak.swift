enum Leak: Equatable, CustomStringConvertible {
    /// A command without an answer.
    case unanswered(String)
    /// A manager or a peripheral that is still referenced.
    case leaked(String)
    /// A queue whose callbacks do not end, by its label.
    case blocked(String)
    /// A task that does not end although it waits for nothing.
    case running

    var description: String {
        switch self {
        case .unanswered(let command):
            """
            unanswered: \(command). Expect its callback before the test ends, or permit it with \
            .emulator(allowing: .unansweredCommands).
            """
        case .leaked(let object):
            """
            leaked: \(object). Something refers to it when the test has ended: a property, a closure, or a cycle. \
            Release it, or permit it with .emulator(allowing: .livingObjects).
            """
        case .blocked(let label):
            "blocked: a callback on the queue \"\(label)\" has not returned for ten seconds."
        case .running: "running: a task of the test has not ended or awaited anything for ten seconds."
        }
    }

    func isAllowed(by allowed: EmulatorTrait.Leftovers) -> Bool {
        switch self {
        case .unanswered: allowed.contains(.unansweredCommands)
        case .leaked: allowed.contains(.livingObjects)
        case .blocked, .running: false
        }
    }
}
