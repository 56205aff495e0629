/// What a test left behind.
enum Leftover: Equatable, CustomStringConvertible {
    /// A command without an answer.
    case unanswered(String)
    /// A manager or a peripheral that something still refers to.
    case leaked(String)

    var description: String {
        switch self {
        case .unanswered(let command): "unanswered: \(command)"
        case .leaked(let object): "leaked: \(object)"
        }
    }

    func isAllowed(by allowed: EmulatorTrait.Leftovers) -> Bool {
        switch self {
        case .unanswered: allowed.contains(.unansweredCommands)
        case .leaked: allowed.contains(.livingObjects)
        }
    }
}
