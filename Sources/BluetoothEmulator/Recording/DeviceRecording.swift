public import BluetoothBackend
public import BluetoothSupport
public import BluetoothValues

/// A real device as a program observed it: what it is, and what happened, with the times.
///
/// `bluectl record`, `COREBLUETOOTH_RECORD` and captures make recordings; ``replayed(_:)`` makes an emulated device of one. A
/// file has JSON lines, of which the first describes the device; one that was cut off lost the end of what happened and no
/// more.
public struct DeviceRecording: Hashable, Sendable {
    /// Where a recording comes from.
    public struct Source: Hashable, Sendable {
        /// The backend that observed the device: `bluez` or `emulator`; `capture` for a capture file.
        public var backend: String
        /// The day, as `2026-11-22`; nil if unknown.
        public var date: String?
        /// Whether the address and serial numbers were replaced.
        public var isRedacted: Bool

        /// A source.
        public init(backend: String, date: String? = nil, isRedacted: Bool) {
            self.backend = backend
            self.date = date
            self.isRedacted = isRedacted
        }
    }

    /// The most events that a file may have: 200,000.
    public static let maximumEvents = 200_000
    /// The last instant of a recording: a year after its beginning.
    public static let longestTime = Duration.seconds(31_536_000)
    /// The most bytes that a file may have: 32 MiB.
    public static let maximumBytes = 33_554_432

    /// The device as far as it was observed: its advertisements and services; the values are in the events.
    public var device: PeripheralDescription
    /// Where the recording comes from.
    public var source: Source
    /// What happened, in the order in which it ended.
    public var events: [RecordedEvent]

    /// A recording.
    public init(device: PeripheralDescription, source: Source, events: [RecordedEvent] = []) {
        self.device = device
        self.source = source
        self.events = events
    }

    /// An emulated device that behaves as the recorded one did.
    public func replayed(_ options: ReplayOptions = ReplayOptions()) -> PeripheralDescription {
        var device = device
        device.replay = RecordingReplay(self, options)
        return device
    }
}

/// Something that happened with a recorded device.
public struct RecordedEvent: Hashable, Sendable {
    /// What happened.
    public enum Kind: Hashable, Sendable {
        /// An advertising packet of a set, with its signal strength in dBm.
        case advertised(set: Int, rssi: Int?)
        /// A central connected; the ATT MTU in bytes, if it is known.
        case linkOpened(mtu: Int?)
        /// The link ended.
        case linkClosed(DisconnectReason)
        /// A central asked for something, and the device answered.
        case request(RecordedRequest)
        /// The device notified or indicated a value.
        case notified(RecordedAttribute, Data, after: RecordedWrite?)
    }

    /// The time since the recording began; of a request the time at which it was sent.
    ///
    /// Files keep whole microseconds.
    public var time: Duration
    /// What happened.
    public var kind: Kind

    /// An event.
    public init(time: Duration, _ kind: Kind) {
        self.time = time
        self.kind = kind
    }
}

/// A request of a central, and the answer.
public struct RecordedRequest: Hashable, Sendable {
    /// The kind of a request.
    public enum Operation: String, Hashable, Sendable, CaseIterable {
        /// Reads the value.
        case read
        /// Writes a value, with an answer.
        case write
        /// Writes a value without an answer.
        case writeCommand
        /// Subscribes to the value.
        case subscribe
        /// Unsubscribes from the value.
        case unsubscribe
    }

    /// The kind.
    public var operation: Operation
    /// The attribute.
    public var attribute: RecordedAttribute
    /// The value that was written, or read; nil for others, and for a read that failed.
    public var value: Data?
    /// The time from the request to its answer; nil for a write command.
    public var duration: Duration?
    /// The error of a request that the device refused.
    public var error: ATTCode?

    /// A request.
    public init(
        _ operation: Operation, _ attribute: RecordedAttribute, value: Data? = nil, duration: Duration? = nil,
        error: ATTCode? = nil
    ) {
        self.operation = operation
        self.attribute = attribute
        self.value = value
        self.duration = duration
        self.error = error
    }
}

/// A write of a value to an attribute.
public struct RecordedWrite: Hashable, Sendable {
    /// The attribute.
    public var attribute: RecordedAttribute
    /// The value.
    public var value: Data

    /// A write.
    public init(_ attribute: RecordedAttribute, _ value: Data) {
        self.attribute = attribute
        self.value = value
    }
}
