package import BluetoothBackend

/// The category of a line.
public enum TraceCategory: String, Hashable, Sendable, Codable, CaseIterable {
    /// A request of the manager: scan, connect, discover, subscribe.
    case command
    /// A value on the air: reads, writes, notifications, channels.
    case data
    /// Any other event of the backend.
    case callback
    /// The creation of a role, with its options, and its end; publishing of services; the pairing capability.
    case configuration
    /// A use of a simulation control, or a line of the program; see ``BackendTrace/log(_:)``.
    case simulation
    /// A fact that no command or event reports: a dropped command, an ignored control, a lost packet.
    case note
}

extension CentralCommand {
    package var category: TraceCategory {
        switch kind {
        case .read, .write, .writeCommand, .sendOnChannel, .channelConsumed: .data
        default: .command
        }
    }
}

extension CentralEvent {
    package var category: TraceCategory {
        switch kind {
        case .valueRead, .written, .valueNotified, .channelReceived, .channelCredits, .writeCredits: .data
        default: .callback
        }
    }
}

extension PeripheralCommand {
    package var category: TraceCategory {
        switch kind {
        case .respond, .updateValue, .sendOnChannel, .channelConsumed: .data
        case .addService, .removeService, .removeAllServices: .configuration
        default: .command
        }
    }
}

extension PeripheralEvent {
    package var category: TraceCategory {
        switch kind {
        case .readRequested, .writeRequested, .requestExpired, .notifyCredits, .channelReceived, .channelCredits: .data
        default: .callback
        }
    }
}

extension PairingCommand {
    package var category: TraceCategory { kind == .setCapability ? .configuration : .command }
}

extension PairingEvent {
    package var category: TraceCategory { .callback }
}
