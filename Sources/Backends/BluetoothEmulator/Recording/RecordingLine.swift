import BluetoothBackend
import BluetoothSupport
import BluetoothValues

/// A line of a recording's file: a description of the device, or an event.
///
/// The first line has `recording`, `device` and `source`; a later one may have `t` and `device`, with newly observed
/// properties.
struct RecordingLine: Sendable {
    /// The version of the format.
    static let version = 1

    var version: Int?
    var device: PeripheralDescription?
    var source: DeviceRecording.Source?
    var time: Double?
    var packet: Packet?
    var link = Link()
    var attributes: [RecordedEvent.Verb: RecordedAttribute] = [:]
    var value: Data?
    var offset: UInt16 = 0
    var duration: Duration?
    var error: UInt8?
    var cause: Cause?

    struct Link: Hashable, Sendable {
        var state: String?
        var mtu: Int?
        var reason: DisconnectReason?
    }

    struct Packet: Hashable, Sendable {
        var set = 0
        var rssi: Int?
    }

    struct Cause: Hashable, Sendable {
        var attribute: RecordedAttribute?
        var value: Data?
        var offset: UInt16 = 0
    }
}

extension RecordedEvent {
    /// The field that names an event of an attribute.
    enum Verb: String, CaseIterable, Sendable {
        case read, write, writeCommand, subscribe, unsubscribe, notified
    }
}

extension RecordingLine: WorldFileObject {
    static let fields = FieldTable(
        RecordingLine(),
        .value("recording", \.version),
        .value("device", \.device),
        .value("source", \.source),
        .value("t", \.time),
        .value("advertised", \.packet),
        .value("link", \.link.state),
        .value("mtu", \.link.mtu),
        .value("reason", \.link.reason, .name("reasons", of: DisconnectReason.all)),
        attribute(.read), attribute(.write), attribute(.writeCommand), attribute(.subscribe),
        attribute(.unsubscribe), attribute(.notified),
        .value("value", \.value, .hex),
        .value("offset", \.offset),
        .value("took", \.duration, .duration),
        .value("error", \.error),
        .value("after", \.cause))

    private static func attribute(_ verb: RecordedEvent.Verb) -> Field<RecordingLine> {
        .value(verb.rawValue, \.attributes[verb], .attribute)
    }
}

extension RecordingLine.Packet: WorldFileObject {
    static let fields = FieldTable(
        RecordingLine.Packet(), .value("set", \.set, isAlwaysWritten: true), .value("rssi", \.rssi))
}

extension RecordingLine.Cause {
    fileprivate init(_ write: RecordedWrite) {
        self.init(attribute: write.attribute, value: write.value, offset: write.offset)
    }
}

extension RecordingLine.Cause: WorldFileObject {
    static let fields = FieldTable(
        RecordingLine.Cause(), .value("write", \.attribute, .attribute), .value("value", \.value, .hex),
        .value("offset", \.offset))
}

extension DeviceRecording.Source: WorldFileObject {
    static let fields = FieldTable(
        DeviceRecording.Source(backend: "", isRedacted: false),
        .required("backend", \.backend),
        .value("date", \.date),
        .value("redacted", \.isRedacted, isAlwaysWritten: true))
}

extension ValueForm where Value == RecordedAttribute, Written == String {
    fileprivate static let attribute = text(
        rule: "an attribute is the UUIDs of its service and itself, as in \"180D/2A37\"",
        parse: { RecordedAttribute($0) }, text: \.description)
}

extension DisconnectReason {
    fileprivate static let all: [Self] = [.local, .remote, .timeout, .authentication, .unknown]
}

// MARK: Events

extension RecordingLine {
    init(_ event: RecordedEvent) {
        time = event.time.inSeconds
        switch event.kind {
        case .advertised(let set, let rssi): packet = Packet(set: set, rssi: rssi)
        case .linkOpened(let mtu): link = Link(state: "opened", mtu: mtu)
        case .linkClosed(let reason): link = Link(state: "closed", reason: reason)
        case .request(let request):
            if let verb = RecordedEvent.Verb(rawValue: request.operation.rawValue) {
                attributes[verb] = request.attribute
            }
            (value, offset) = (request.value, request.offset)
            (duration, error) = (request.duration, request.error?.rawValue)
        case .notified(let attribute, let value, let cause):
            attributes[.notified] = attribute
            (self.value, self.cause) = (value, cause.map { Cause($0) })
        }
    }

    /// Returns the event; nil for a line that only describes the device.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    func event() throws(DescriptionError) -> RecordedEvent? {
        guard let time, time >= 0, time <= DeviceRecording.longestTime.inSeconds else {
            throw DescriptionError("t", "a line has the seconds since the beginning, 0...31536000")
        }
        let kinds = [packet != nil, link.state != nil, device != nil].count { $0 } + attributes.count
        guard kinds == 1 else {
            throw DescriptionError("", "a line has one of advertised, link, device, \(Self.verbs)")
        }
        if device != nil { return nil }
        // Within the times of a recording, a JSON number is exact to the microsecond, but not to the nanosecond.
        let instant = Duration.microseconds(Int64((time * 1e6).rounded()))
        return RecordedEvent(time: instant, try kind())
    }

    private static let verbs = RecordedEvent.Verb.allCases.map(\.rawValue).joined(separator: ", ")

    private func kind() throws(DescriptionError) -> RecordedEvent.Kind {
        if let packet {
            try allow([])
            return .advertised(set: packet.set, rssi: packet.rssi)
        }
        if let state = link.state { return try linkChange(state) }
        guard let (verb, attribute) = attributes.first else { throw DescriptionError("", "the line is empty") }
        if verb == .notified { return try notification(of: attribute) }
        guard let operation = RecordedRequest.Operation(rawValue: verb.rawValue) else {
            throw DescriptionError(verb.rawValue, "there is no such operation")
        }
        return .request(try request(operation, attribute))
    }

    private func linkChange(_ state: String) throws(DescriptionError) -> RecordedEvent.Kind {
        switch state {
        case "opened":
            try allow(["mtu"])
            return .linkOpened(mtu: link.mtu)
        case "closed":
            try allow(["reason"])
            return .linkClosed(link.reason ?? .unknown)
        default: throw DescriptionError("link", "a link is opened or closed")
        }
    }

    private func notification(of attribute: RecordedAttribute) throws(DescriptionError) -> RecordedEvent.Kind {
        try allow(["value", "after"])
        guard let cause else { return .notified(attribute, try requiredValue(), after: nil) }
        guard let written = cause.attribute, let value = cause.value else {
            throw DescriptionError("after", "a cause has write and value")
        }
        return .notified(attribute, try requiredValue(), after: RecordedWrite(written, value, offset: cause.offset))
    }

    private func request(
        _ operation: RecordedRequest.Operation, _ attribute: RecordedAttribute
    ) throws(DescriptionError) -> RecordedRequest {
        let code = error.map { ATTCode(rawValue: $0) }
        if code?.rawValue == 0 { throw DescriptionError("error", "an ATT error code is 1...255") }
        switch operation {
        case .read:
            try allow(["value", "took", "error"])
            try require((value == nil) != (code == nil), "value", "a read has either a value or an error")
            if value != nil { _ = try requiredValue() }
        case .write:
            try allow(["value", "offset", "took", "error"])
            _ = try requiredValue()
        case .writeCommand:
            try allow(["value"])
            _ = try requiredValue()
        case .subscribe, .unsubscribe: try allow(["took", "error"])
        }
        return RecordedRequest(operation, attribute, value: value, offset: offset, duration: duration, error: code)
    }

    private func requiredValue() throws(DescriptionError) -> Data {
        guard let value else { throw DescriptionError("value", "the field is missing") }
        try require(value.count <= ATTLimits.longestValue, "value", "a value has at most 512 bytes")
        return value
    }

    /// Checks that the line has no other fields besides the one that names the event.
    private func allow(_ names: Set<String>) throws(DescriptionError) {
        let given: KeyValuePairs<String, Bool> = [
            "recording": version != nil, "source": source != nil, "mtu": link.mtu != nil, "reason": link.reason != nil,
            "value": value != nil, "offset": offset != 0, "took": duration != nil, "error": error != nil,
            "after": cause != nil,
        ]
        for (name, isGiven) in given where isGiven && !names.contains(name) {
            throw DescriptionError(name, "a line of this kind has no such field")
        }
    }
}
