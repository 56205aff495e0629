/// Why a command ends without having done its work: one line, and how the process ends.
struct Failure: Error, Equatable, CustomStringConvertible {
    /// How the process ends.
    var status: ExitStatus
    /// One line for people.
    var description: String

    /// Ends with `status` and a line.
    init(_ status: ExitStatus, _ description: String) {
        self.status = status
        self.description = description
    }
}

/// The user asked to stop.
struct Interruption: Error {}
