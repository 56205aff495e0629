import DequeModule

/// The commands of transitions that are not submitted yet.
///
/// A value under a core's lock. One thread at a time submits, one command after the other, outside the lock, so
/// commands reach the backend in the order of their transitions.
struct Outbox<Command: Sendable>: Sendable {
    private var commands = Deque<Command>()
    private var isSubmitting = false
    private var isClosed = false

    mutating func append(_ command: Command) {
        if !isClosed { commands.append(command) }
    }

    /// - Returns: The first command, if the caller must submit the commands: this one, and then until ``next()`` is
    ///   nil.
    mutating func beginSubmitting() -> Command? {
        guard !isSubmitting, let first = commands.popFirst() else { return nil }
        isSubmitting = true
        return first
    }

    mutating func next() -> Command? {
        let command = commands.popFirst()
        if command == nil { isSubmitting = false }
        return command
    }

    /// Drops the present commands and all later ones.
    mutating func close() {
        isClosed = true
        commands = []
    }
}
