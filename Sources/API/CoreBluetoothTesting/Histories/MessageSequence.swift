import BluetoothBackend
import BluetoothEmulator
import BluetoothInstrumentation
import BluetoothSupport

/// The commands and events of central managers in a trace, and those events that an incident kept from coming.
///
/// Pure. Counts messages as a ``FaultInjectingBackend`` does.
struct MessageSequence: Sendable {
    struct Message: Hashable, Sendable {
        /// Twice the index in the trace; odd for an event that did not come.
        var order: Int
        var time: Duration
        var kind: FaultKind
        /// The number of the manager.
        var manager: Int
        var device: String?
        /// The characteristic itself, not one of its descriptors.
        var characteristic: BluetoothUUID?
        var operation: UInt64?
        /// The reason for the end of a link.
        var reason: DisconnectReason?
    }

    /// The messages, in their order.
    private var messages: [Message]

    init(_ trace: [TraceEntry]) {
        messages = trace.enumerated().compactMap { Message($0.element, order: $0.offset * 2) }
    }

    /// The numbers of the managers.
    var managers: [Int] { Set(messages.map(\.manager)).sorted() }

    /// The messages about a device, in their order.
    ///
    /// - Parameters:
    ///   - manager: The manager that they must belong to; nil for any.
    ///   - characteristic: The characteristic that they must concern; nil for any.
    func messages(
        of device: String, manager: Int? = nil, characteristic: BluetoothUUID? = nil
    ) -> [Message] {
        messages.filter {
            $0.device == device && (manager == nil || $0.manager == manager)
                && (characteristic == nil || $0.characteristic == characteristic)
        }
    }

    /// Whether a command has no answer before a point of the trace, although its link is up.
    func isOpen(_ command: Message, at order: Int) -> Bool {
        !messages.contains {
            guard $0.manager == command.manager, $0.device == command.device, command.order < $0.order, $0.order < order
            else { return false }
            if $0.isEvent, $0.operation == command.operation, command.operation != nil { return true }
            return $0.kind == .centralEvent(.disconnected) || $0.kind == .centralCommand(.disconnect)
        }
    }

    /// Returns the answer to a command, or the answer that a lost link or an earlier fault kept from coming.
    mutating func answer(to command: Message, _ kind: CentralEvent.Kind, after order: Int) -> Message {
        let answer = messages.first {
            $0.isEvent && $0.manager == command.manager && $0.device == command.device
                && $0.operation == command.operation && $0.order > command.order
        }
        guard let answer, command.operation != nil else { return insert(kind, like: command, after: order) }
        return answer
    }

    /// Inserts an event that an incident kept from coming.
    mutating func insert(_ kind: CentralEvent.Kind, like message: Message, after order: Int) -> Message {
        var event = message
        event.kind = .centralEvent(kind)
        event.order = order | 1
        if kind == .writeCredits { event.characteristic = nil }
        messages.insert(event, at: messages.firstIndex { $0.order > event.order } ?? messages.endIndex)
        return event
    }

    /// Returns the fault that meets a message.
    func fault(at message: Message, _ effect: FaultEffect) -> Fault {
        let number = messages.count {
            $0.kind == message.kind && $0.manager == message.manager && $0.order <= message.order
                && (message.characteristic == nil || $0.characteristic == message.characteristic)
        }
        let place = FaultPlace(message.kind, characteristic: message.characteristic, manager: message.manager)
        return Fault(place, number > 1 ? .nth(number: number) : .once, effect)
    }
}

extension MessageSequence.Message {
    fileprivate init?(_ entry: TraceEntry, order: Int) {
        let role = "central "
        guard entry.source.hasPrefix(role), let manager = Int(entry.source.dropFirst(role.count)),
            entry.direction != .note,
            let kind = FaultKind((entry.direction == .command ? "centralCommand." : "centralEvent.") + entry.name)
        else { return nil }
        let path = (entry.attribute ?? "").split(separator: "/")
        let reason = entry.text.split(separator: " ").first { $0.hasPrefix("reason=") }?.dropFirst("reason=".count)
        self.init(
            order: order, time: entry.time, kind: kind, manager: manager, device: entry.device,
            characteristic: path.count == 2 ? BluetoothUUID(path[1]) : nil, operation: entry.operation,
            reason: reason.flatMap { DisconnectReason(rawValue: String($0)) })
    }

    var isEvent: Bool { if case .centralEvent = kind { true } else { false } }
}

extension CentralCommand.Kind {
    /// The event that answers the command, or that follows a write command when it has been sent.
    var answer: CentralEvent.Kind? {
        switch self {
        case .connect: .connected
        case .readRSSI: .rssiRead
        case .discoverServices, .discoverIncludedServices: .servicesDiscovered
        case .discoverCharacteristics: .characteristicsDiscovered
        case .discoverDescriptors: .descriptorsDiscovered
        case .read: .valueRead
        case .write: .written
        case .writeCommand: .writeCredits
        case .setNotifying: .notifyingChanged
        case .openChannel: .channelOpened
        case .startScan, .stopScan, .disconnect, .setConnectionEventFilter, .sendOnChannel, .channelConsumed,
            .closeChannel:
            nil
        }
    }
}
