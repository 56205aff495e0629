package import BluetoothBackend

/// One line of `GET /v1/events`.
package struct LiveEvent: Codable, Hashable, Sendable {
    /// The number of the event, which grows by one; nil for an event that is not a change of the world.
    package var sequence: UInt64?
    /// The time since the world began, in seconds.
    package var time: Double?
    package var kind: Kind

    package enum Kind: Hashable, Sendable {
        /// A host that was added or has changed.
        case host(LiveHost)
        /// A device that was added or has changed.
        case device(LiveDevice)
        case deviceRemoved(UInt32)
        /// A change of a device's attributes.
        case services(UInt32)
        /// A link that was opened or has changed.
        case link(LiveLink)
        case linkClosed(UInt32, DisconnectReason)
        case log(LiveLogLine)
        /// The traffic of the last second: advertising packets by device, and the links that carried something.
        case traffic(air: [UInt32: Int], [LiveLink])
        case clock(LiveClock)
        case capture(LiveCapture)
        /// The number of events that a slow reader lost; it requests the world again.
        case dropped(Int)
        /// A sign that the connection works.
        case heartbeat
    }

    private enum Field: String, CodingKey {
        case sequence, time, kind, host, device, id, link, reason, air, links, clock, capture, count
    }

    package init(sequence: UInt64? = nil, time: Double? = nil, _ kind: Kind) {
        (self.sequence, self.time, self.kind) = (sequence, time, kind)
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Field.self)
        sequence = try fields.decodeIfPresent(UInt64.self, forKey: .sequence)
        time = try fields.decodeIfPresent(Double.self, forKey: .time)
        let name = try fields.decode(String.self, forKey: .kind)
        kind =
            switch name {
            case "host": .host(try fields.decode(LiveHost.self, forKey: .host))
            case "device": .device(try fields.decode(LiveDevice.self, forKey: .device))
            case "deviceRemoved": .deviceRemoved(try fields.decode(UInt32.self, forKey: .id))
            case "services": .services(try fields.decode(UInt32.self, forKey: .id))
            case "link": .link(try fields.decode(LiveLink.self, forKey: .link))
            case "linkClosed":
                .linkClosed(
                    try fields.decode(UInt32.self, forKey: .id),
                    try fields.decode(DisconnectReason.self, forKey: .reason))
            case "log": .log(try LiveLogLine(from: decoder))
            case "traffic":
                .traffic(
                    air: try fields.decode([String: Int].self, forKey: .air).numbered,
                    try fields.decode([LiveLink].self, forKey: .links))
            case "clock": .clock(try fields.decode(LiveClock.self, forKey: .clock))
            case "capture": .capture(try fields.decode(LiveCapture.self, forKey: .capture))
            case "dropped": .dropped(try fields.decode(Int.self, forKey: .count))
            case "heartbeat": .heartbeat
            default:
                throw DecodingError.dataCorruptedError(
                    forKey: .kind, in: fields, debugDescription: "an unknown kind of event: \(name)")
            }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encodeIfPresent(sequence, forKey: .sequence)
        try fields.encodeIfPresent(time, forKey: .time)
        func put(_ name: String, _ value: some Encodable, _ field: Field) throws {
            try fields.encode(name, forKey: .kind)
            try fields.encode(value, forKey: field)
        }
        switch kind {
        case .host(let host): try put("host", host, .host)
        case .device(let device): try put("device", device, .device)
        case .deviceRemoved(let id): try put("deviceRemoved", id, .id)
        case .services(let id): try put("services", id, .id)
        case .link(let link): try put("link", link, .link)
        case .linkClosed(let id, let reason):
            try put("linkClosed", id, .id)
            try fields.encode(reason, forKey: .reason)
        case .log(let line):
            try fields.encode("log", forKey: .kind)
            try line.encode(to: encoder)
        case .traffic(let air, let links):
            try put("traffic", Dictionary(air.map { ("\($0)", $1) }) { $1 }, .air)
            try fields.encode(links, forKey: .links)
        case .clock(let clock): try put("clock", clock, .clock)
        case .capture(let capture): try put("capture", capture, .capture)
        case .dropped(let count): try put("dropped", count, .count)
        case .heartbeat: try fields.encode("heartbeat", forKey: .kind)
        }
    }
}

extension [String: Int] {
    fileprivate var numbered: [UInt32: Int] {
        Dictionary<UInt32, Int>(compactMap { key, count in UInt32(key).map { ($0, count) } }) { $1 }
    }
}

/// An event in words.
package struct LiveLogLine: Codable, Hashable, Sendable {
    package enum Category: String, Codable, Hashable, Sendable, CaseIterable {
        /// The Attribute Protocol.
        case att
        case link
        case security
        case channel
        /// An event that no other kind reports.
        case note
        /// A control of a device or a host.
        case control
    }

    package enum Direction: String, Codable, Hashable, Sendable {
        case toDevice, fromDevice
    }

    package var category: Category
    package var host: Int?
    package var device: UInt32?
    package var link: UInt32?
    package var direction: Direction?
    /// The operation of a packet; nil for a line about something else.
    package var operation: LiveOperation?
    package var text: String
    /// The bytes of a value, in hexadecimal digits.
    package var value: String?
    /// The meaning of the value, if the Bluetooth SIG defines its layout.
    package var meaning: String?
    /// Whether the line reports a problem.
    package var isProblem = false
}
