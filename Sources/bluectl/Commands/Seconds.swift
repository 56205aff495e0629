import ArgumentParser

/// A time on the command line, in seconds: more than 0, at most a day.
struct Seconds: ExpressibleByArgument, Equatable, Sendable {
    let duration: Duration
    private let text: String

    init?(argument: String) {
        guard let seconds = Double(argument), seconds > 0, seconds <= 86_400 else { return nil }
        duration = .milliseconds(Int64((seconds * 1000).rounded(.up)))
        text = argument
    }

    /// Whole seconds, 1...86400.
    init(_ seconds: Int) {
        duration = .seconds(seconds)
        text = "\(seconds)"
    }

    var defaultValueDescription: String { text }
}
