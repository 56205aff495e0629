public import BluetoothBackend
public import BluetoothSupport
public import BluetoothValues

/// A recording of a real device: its description, and timed events, as a program observed them.
///
/// `bluectl record`, `COREBLUETOOTH_RECORD` and captures create recordings; ``replayed(_:)`` turns one into an emulated
/// device. A file consists of JSON lines, of which the first describes the device; a truncated file lacks only the last
/// events.
public struct DeviceRecording: Hashable, Sendable {
    /// The origin of a recording.
    public struct Source: Hashable, Sendable {
        /// The backend that observed the device: `bluez` or `emulator`; `capture` for a capture file.
        public var backend: String
        /// The day, such as `2026-11-22`; nil if unknown.
        public var date: String?
        /// Whether the address and serial numbers were replaced.
        public var isRedacted: Bool

        /// Creates a source.
        public init(backend: String, date: String? = nil, isRedacted: Bool) {
            self.backend = backend
            self.date = date
            self.isRedacted = isRedacted
        }
    }

    /// The maximum number of events in a file: 200,000.
    public static let maximumEvents = 200_000
    /// The last possible instant of a recording: a year after its beginning.
    public static let longestTime = Duration.seconds(31_536_000)
    /// The maximum size of a file: 32 MiB.
    public static let maximumBytes = 33_554_432

    /// The observed part of the device: its advertisements and services; the values are in the events.
    public var device: PeripheralDescription
    /// The origin of the recording.
    public var source: Source
    /// The events, in the order in which they ended.
    public var events: [RecordedEvent]

    /// Creates a recording.
    public init(device: PeripheralDescription, source: Source, events: [RecordedEvent] = []) {
        self.device = device
        self.source = source
        self.events = events
    }

    /// Returns an emulated device that behaves like the recorded one.
    public func replayed(_ options: ReplayOptions = ReplayOptions()) -> PeripheralDescription {
        var device = device
        device.replay = RecordingReplay(self, options)
        return device
    }
}

/// An event of a recorded device.
public struct RecordedEvent: Hashable, Sendable {
    /// The kind of an event.
    public enum Kind: Hashable, Sendable {
        /// An advertising packet of a set, with its signal strength in dBm.
        case advertised(set: Int, rssi: Int?)
        /// A central connected, with the ATT MTU in bytes if it is known.
        case linkOpened(mtu: Int?)
        /// The link ended.
        case linkClosed(DisconnectReason)
        /// A central sent a request, and the device answered.
        case request(RecordedRequest)
        /// The device notified or indicated a value.
        case notified(RecordedAttribute, Data, after: RecordedWrite?)
    }

    /// The time since the recording began; for a request, the time at which it was sent.
    ///
    /// Files keep whole microseconds.
    public var time: Duration
    /// The kind of the event.
    public var kind: Kind

    /// Creates an event.
    public init(time: Duration, _ kind: Kind) {
        self.time = time
        self.kind = kind
    }
}

/// A request of a central, with its answer.
public struct RecordedRequest: Hashable, Sendable {
    /// The kind of a request.
    public enum Operation: String, Hashable, Sendable, CaseIterable {
        /// Reads the value.
        case read
        /// Writes a value, with a response.
        case write
        /// Writes a value without a response.
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
    /// The written or read value; nil for other requests, and for a failed read.
    public var value: Data?
    /// The offset from which a write begins, in bytes.
    public var offset: UInt16
    /// The time from the request to its answer; nil for a write command.
    public var duration: Duration?
    /// The error of a request that the device refused.
    public var error: ATTCode?

    /// Creates a request.
    public init(
        _ operation: Operation, _ attribute: RecordedAttribute, value: Data? = nil, offset: UInt16 = 0,
        duration: Duration? = nil, error: ATTCode? = nil
    ) {
        self.operation = operation
        self.attribute = attribute
        self.value = value
        self.offset = offset
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
    /// The offset from which it is written, in bytes.
    public var offset: UInt16

    /// Creates a write.
    public init(_ attribute: RecordedAttribute, _ value: Data, offset: UInt16 = 0) {
        self.attribute = attribute
        self.value = value
        self.offset = offset
    }
}
