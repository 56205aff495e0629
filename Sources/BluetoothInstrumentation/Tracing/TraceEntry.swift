import BluetoothBackend

/// One line of a trace.
public struct TraceEntry: Hashable, Sendable, Codable {
    /// The time on the clock of the traced backend.
    public var time: Duration
    /// The category of the line.
    public var category: TraceCategory
    /// The role: `central 1`, `peripheral 2`, `pairing 3`, numbered in the order of creation; empty for notes.
    public var source: String
    /// The name of the command or event, and its fields as `field=value`; identifiers are followed by the names that
    /// earlier lines gave, as in `attribute=9:180D/2A37`.
    public var text: String

    /// Creates a line.
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

/// The category of a line.
public enum TraceCategory: String, Hashable, Sendable, Codable, CaseIterable {
    /// A request of the manager: scan, connect, discover, subscribe.
    case command
    /// Values that go over the air: reads, writes, notifications, channels.
    case data
    /// Any other event of the backend.
    case callback
    /// The creation of a role, with its options, and its end; publishing of services; the pairing capability.
    case configuration
    /// A use of a simulation control; see ``BackendTrace/log(_:)``.
    case simulation
}

protocol CategorizedMessage: TraceMessage {
    var traceCategory: TraceCategory { get }
}

extension CentralCommand: CategorizedMessage {
    var traceCategory: TraceCategory {
        switch kind {
        case .read, .write, .writeCommand, .sendOnChannel, .channelConsumed: .data
        default: .command
        }
    }
}

extension CentralEvent: CategorizedMessage {
    var traceCategory: TraceCategory {
        switch kind {
        case .valueRead, .written, .valueNotified, .channelReceived, .channelCredits, .writeCredits: .data
        default: .callback
        }
    }
}

extension PeripheralCommand: CategorizedMessage {
    var traceCategory: TraceCategory {
        switch kind {
        case .respond, .updateValue, .sendOnChannel, .channelConsumed: .data
        case .addService, .removeService, .removeAllServices: .configuration
        default: .command
        }
    }
}

extension PeripheralEvent: CategorizedMessage {
    var traceCategory: TraceCategory {
        switch kind {
        case .readRequested, .writeRequested, .requestExpired, .notifyCredits, .channelReceived, .channelCredits: .data
        default: .callback
        }
    }
}

extension PairingCommand: CategorizedMessage {
    var traceCategory: TraceCategory { kind == .setCapability ? .configuration : .command }
}

extension PairingEvent: CategorizedMessage {
    var traceCategory: TraceCategory { .callback }
}
