public import BluetoothBackend
public import BluetoothSupport

/// One line of a trace: a command to a backend, an event of it, or a note.
///
/// Its description is the line as text, its encoding an object with a field for each property. Traces of the emulator and of
/// ``TracingBackend`` consist of the same entries.
@dynamicMemberLookup
public struct TraceEntry: Hashable, Sendable {
    /// The direction of a line, to a backend or from it.
    public enum Direction: String, Hashable, Sendable, Codable {
        /// To the backend: a command of a manager, or a control of the emulator.
        case command = "<"
        /// From the backend: an event.
        case event = ">"
        /// Neither.
        case note = "!"
    }

    /// The time on the clock of the traced backend.
    public var time: Duration
    /// The direction of the line, to the backend or from it.
    public var direction: Direction
    /// The category of the line.
    public var category: TraceCategory
    /// The host of the role: on BlueZ the adapter that the manager named, on the emulator the host's name; nil if unknown.
    public var host: String?
    /// The role: `central 1`, `peripheral 2`, `pairing 3`, numbered in the order of creation; a device or a host for a control
    /// of the emulator; empty for notes.
    public var source: String
    /// The name of the command or event: `valueNotified`; empty for notes.
    public var name: String
    /// The subject of the line, as values; its members are also members of the entry, as in `entry.device`.
    public var details: TraceDetails
    /// The name of the command or event, and its fields as `field=value`; identifiers are followed by the names from
    /// earlier lines, as in `attribute=9:180D/2A37@0x0010`.
    public var text: String

    /// Creates a note, or a line of another program.
    public init(
        time: Duration, direction: Direction = .note, category: TraceCategory, host: String? = nil, source: String = "",
        device: String? = nil, text: String
    ) {
        self.time = time
        self.direction = direction
        self.category = category
        self.host = host
        self.source = source
        details = TraceDetails(device: device)
        self.text = text
        name = direction == .note ? "" : String(text.prefix { $0 != " " })
    }

    package init(
        _ line: TraceLine, at time: Duration, direction: Direction, category: TraceCategory, host: String?,
        source: String
    ) {
        self.init(
            time: time, direction: direction, category: category, host: host, source: source, text: line.text)
        (name, details) = (line.name, line.details)
    }
}

/// The subject of a trace line, as values.
public struct TraceDetails: Hashable, Sendable {
    /// The name of the device that the line concerns, if this line or an earlier one contains it.
    public var device: String?
    /// The identifier of that device.
    public var peer: PeerID?
    /// The UUID path of the attribute that the line concerns: `180D/2A37`.
    public var attribute: String?
    /// The handle of that attribute on the peer, if the backend knows it.
    public var handle: UInt16?
    /// The number of the operation: the same for a command and its answer, within their role and link.
    public var operation: UInt64?
    /// A signal strength, in dBm.
    public var rssi: Int?
    /// The error of an operation that failed.
    public var error: String?
    /// The value of the attribute; nil if the line has none, or if values are hidden.
    public var value: Data?
    /// The value in words, if a specification defines its layout: `72 bpm`.
    public var meaning: String?

    /// Creates details of a device; the other fields are nil.
    public init(device: String? = nil) { self.device = device }
}

extension TraceEntry {
    /// A member of the details.
    public subscript<Value>(dynamicMember member: WritableKeyPath<TraceDetails, Value>) -> Value {
        get { details[keyPath: member] }
        set { details[keyPath: member] = newValue }
    }
}

extension TraceEntry: CustomStringConvertible {
    /// Seconds with nine decimals, `<` for a command, `>` for an event or `!` for a note, the host, the source, and the
    /// text.
    ///
    /// It is one line that is safe for a terminal, even for an entry of a file or of a program: characters that are not
    /// printable are escaped as in `\u{1B}`.
    public var description: String {
        "\(seconds) \(direction.rawValue) \(place.isEmpty ? "" : place + ": ")\(text)".printable
    }

    /// The host, if known, and the source: `default central 1`.
    package var place: String { [host, source.isEmpty ? nil : source].compactMap(\.self).joined(separator: " ") }

    private var seconds: String {
        let (seconds, attoseconds) = time.components
        let fraction = String(attoseconds / 1_000_000_000)
        return "\(seconds)." + String(repeating: "0", count: max(0, 9 - fraction.count)) + fraction
    }
}

extension TraceEntry: Codable {
    private enum CodingKeys: String, CodingKey {
        case time, direction, category, host, source, name, device, peer, attribute, handle, operation, rssi, error,
            value, meaning, text
    }

    /// Reads an entry; the time is a number of seconds, a value is hexadecimal text.
    ///
    /// - Throws: `DecodingError` for a missing or malformed field.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let seconds = try fields.decode(Double.self, forKey: .time)
        guard seconds.magnitude < Self.latestTime else {
            throw DecodingError.dataCorruptedError(forKey: .time, in: fields, debugDescription: "out of range")
        }
        time = .nanoseconds(Int64((seconds * 1e9).rounded()))
        direction = try fields.decode(Direction.self, forKey: .direction)
        category = try fields.decode(TraceCategory.self, forKey: .category)
        host = try fields.decodeIfPresent(String.self, forKey: .host)
        source = try fields.decode(String.self, forKey: .source)
        name = try fields.decode(String.self, forKey: .name)
        details = TraceDetails(device: try fields.decodeIfPresent(String.self, forKey: .device))
        details.peer = try fields.decodeIfPresent(UUID.self, forKey: .peer).map { PeerID($0) }
        details.attribute = try fields.decodeIfPresent(String.self, forKey: .attribute)
        details.handle = try fields.decodeIfPresent(UInt16.self, forKey: .handle)
        details.operation = try fields.decodeIfPresent(UInt64.self, forKey: .operation)
        details.rssi = try fields.decodeIfPresent(Int.self, forKey: .rssi)
        details.error = try fields.decodeIfPresent(String.self, forKey: .error)
        details.meaning = try fields.decodeIfPresent(String.self, forKey: .meaning)
        text = try fields.decode(String.self, forKey: .text)
        details.value = try fields.decodeIfPresent(String.self, forKey: .value).map { digits in
            guard let value = Data(hexText: digits) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .value, in: fields, debugDescription: "not an even number of hexadecimal digits")
            }
            return value
        }
    }

    /// The largest number of seconds that fits into 64 bits of nanoseconds.
    private static let latestTime = 9.2e9

    /// Writes an entry; fields without a value are omitted.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(time.inSeconds, forKey: .time)
        try fields.encode(direction, forKey: .direction)
        try fields.encode(category, forKey: .category)
        try fields.encodeIfPresent(host, forKey: .host)
        try fields.encode(source, forKey: .source)
        try fields.encode(name, forKey: .name)
        try fields.encodeIfPresent(details.device, forKey: .device)
        try fields.encodeIfPresent(details.peer?.uuid, forKey: .peer)
        try fields.encodeIfPresent(details.attribute, forKey: .attribute)
        try fields.encodeIfPresent(details.handle, forKey: .handle)
        try fields.encodeIfPresent(details.operation, forKey: .operation)
        try fields.encodeIfPresent(details.rssi, forKey: .rssi)
        try fields.encodeIfPresent(details.error, forKey: .error)
        try fields.encodeIfPresent(details.value?.hexText, forKey: .value)
        try fields.encodeIfPresent(details.meaning, forKey: .meaning)
        try fields.encode(text, forKey: .text)
    }
}
