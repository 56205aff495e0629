/// A command or an event that a trace can write.
package protocol TraceMessage: Sendable {
    associatedtype Kind: RawRepresentable<String>
    /// The first word of the line.
    var kind: Kind { get }
    var category: TraceCategory { get }
    /// Whether it goes to the backend or comes from it.
    static var direction: TraceEntry.Direction { get }

    /// Passes on the names that the message contains.
    func teach(_ names: inout TraceNames, role: Int)

    func write(to line: inout TraceLine)
}

extension TraceMessage {
    package func teach(_ names: inout TraceNames, role: Int) {}
}
