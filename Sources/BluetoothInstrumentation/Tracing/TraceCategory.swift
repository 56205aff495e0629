import BluetoothBackend

/// What a line of a trace is about.
public enum TraceCategory: String, Hashable, Sendable, Codable, CaseIterable {
    /// A request of the manager: scan, connect, discover, subscribe.
    case command
    /// Values that go over the air: reads, writes, notifications, channels.
    case data
    /// Any other event of the backend.
    case callback
    /// The creation of a role, with its options, and its end; publishing of services; the pairing capability.
    case configuration
    /// A use of a simulation control; see ``BackendTrace/note(_:)``.
    case simulation
}

/// A message that belongs to a category.
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
