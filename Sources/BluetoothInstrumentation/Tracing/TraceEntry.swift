import BluetoothBackend

/// What a line of a trace is about.
public enum TraceCategory: String, Hashable, Sendable, Codable, CaseIterable {
    /// The manager asks for something: scan, connect, discover, subscribe.
    case command
    /// Values go over the air: reads, writes, notifications, channels.
    case data
    /// The radio tells something else.
    case callback
    /// A role is made, with its options, or ended; services are published; pairing is set up.
    case configuration
    /// A simulation control was used; see ``BackendTrace/note(_:)``.
    case simulation
}

/// One line of a trace.
public struct TraceEntry: Hashable, Sendable, Codable {
    /// When, on the clock of the traced radio.
    public var time: Duration
    /// What it is about.
    public var category: TraceCategory
    /// Who: `central 1`, `peripheral 2`, `pairing 3`, numbered in the order of their making; empty for notes.
    public var source: String
    /// What happened: the case name of the command or event, and its fields.
    public var text: String

    /// A line.
    public init(time: Duration, category: TraceCategory, source: String, text: String) {
        self.time = time
        self.category = category
        self.source = source
        self.text = text
    }
}

extension TraceEntry: CustomStringConvertible {
    /// Seconds with six decimals, category, source and text.
    public var description: String {
        let (seconds, attoseconds) = time.components
        let fraction = String(attoseconds / 1_000_000_000_000)
        let zeros = String(repeating: "0", count: max(0, 6 - fraction.count))
        return "\(seconds).\(zeros)\(fraction) \(category.rawValue) \(source.isEmpty ? "" : source + ": ")\(text)"
    }
}
