/// A command or an event that a trace can write.
package protocol TraceMessage: Sendable {
    associatedtype Kind: RawRepresentable<String>
    /// The first word of the line.
    var kind: Kind { get }
    var category: TraceCategory { get }
    /// The direction, to the backend or from it.
    static var direction: TraceEntry.Direction { get }

    /// Passes the names in the message to `names`.
    func teach(_ names: inout TraceNames, role: Int)

    func write(to line: inout TraceLine)
}

extension TraceMessage {
    package func teach(_ names: inout TraceNames, role: Int) {}
}
