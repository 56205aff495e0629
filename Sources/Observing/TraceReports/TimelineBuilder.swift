package import BluetoothBackend
import BluetoothSupport
import BluetoothTracing

/// Sorts the entries of a trace into lanes, and pairs commands with their answers.
struct TimelineBuilder {
    private typealias Span = TraceTimeline.Span
    private typealias Mark = TraceTimeline.Mark
    private typealias Lane = TraceTimeline.Lane

    /// An operation, or a state that ends with an event.
    private struct OpenKey: Hashable {
        enum Subject: Hashable {
            case operation(UInt64), link, scan
        }

        var role: String
        var lane: Int
        var subject: Subject
    }

    private let entries: [TraceEntry]
    /// The last name of each peer.
    private let names: [PeerID: String]
    private var lanes: [Lane] = []
    private var roleLanes: [String: Int] = [:]
    /// The lanes of devices by peer, and by name if no peer is known.
    private var peerLanes: [PeerID: Int] = [:]
    private var nameLanes: [String: Int] = [:]
    private var open: [OpenKey: Int] = [:]
    /// The lines of the commands that end links, until the links have ended.
    private var requestedEnds: [OpenKey: Int] = [:]
    /// The position of the present entry.
    private var line = 0

    init(_ entries: [TraceEntry]) {
        self.entries = entries
        names = entries.deviceNames
    }

    mutating func build(until end: Duration) -> [TraceTimeline.Lane] {
        for (index, entry) in entries.enumerated() {
            line = index
            add(entry)
        }
        for (key, index) in open {
            // A role that its app released ends its links, and reports nothing more. What began after a request to end
            // a link, such as the next attempt, did not end with it.
            let link = OpenKey(role: key.role, lane: key.lane, subject: .link)
            let begin = lanes[key.lane].spans[index].lines.lowerBound
            let last = key.subject == .scan ? nil : requestedEnds[link].flatMap { $0 < begin ? nil : $0 }
            finish(&lanes[key.lane].spans[index], at: last.map { entries[$0].time } ?? end, last ?? line)
        }
        // Roles first, then the devices that they used, then other devices.
        return lanes.filter { $0.kind == .role } + lanes.filter { $0.kind == .device && !$0.spans.isEmpty }
            + lanes.filter { $0.kind == .device && $0.spans.isEmpty }
    }

    // MARK: Lanes

    private mutating func newLane(_ kind: TraceTimeline.Lane.Kind, _ title: String) -> Int {
        lanes.append(Lane(kind: kind, title: title))
        return lanes.count - 1
    }

    private mutating func roleLane(_ title: String) -> Int {
        if let lane = roleLanes[title] { return lane }
        let lane = newLane(.role, title)
        roleLanes[title] = lane
        return lane
    }

    /// Returns the lane of the device that an entry concerns; nil if it concerns none.
    private mutating func deviceLane(_ entry: TraceEntry) -> Int? {
        let name = entry.peer.flatMap { names[$0] } ?? entry.device
        if let peer = entry.peer {
            if let lane = peerLanes[peer] { return lane }
            // A control may have named the device before a role discovered it.
            let known = name.flatMap { nameLanes[$0] }.flatMap { peerLanes.values.contains($0) ? nil : $0 }
            let lane = known ?? newLane(.device, name ?? peer.description)
            peerLanes[peer] = lane
            if let name, nameLanes[name] == nil { nameLanes[name] = lane }
            return lane
        }
        guard let name else { return nil }
        if let lane = nameLanes[name] { return lane }
        let lane = newLane(.device, name)
        nameLanes[name] = lane
        return lane
    }

    // MARK: Entries

    private mutating func add(_ entry: TraceEntry) {
        let role = entry.place
        let device = deviceLane(entry)
        if entry.category == .simulation || entry.category == .note {
            let lane = device ?? roleLane(role.isEmpty ? "notes" : role)
            let kind: Mark.Kind = entry.category == .note ? .note : .control
            return mark(entry, kind, in: lane, role: "")
        }
        let own = roleLane(role)
        switch entry.name {
        case "discovered":
            if let device, let rssi = entry.rssi {
                lanes[device].sightings.append(.init(time: entry.time, line: line, rssi: rssi))
            }
        case "startScan": begin(entry, .scan, OpenKey(role: role, lane: own, subject: .scan), "scan")
        case "stopScan": close(entry, OpenKey(role: role, lane: own, subject: .scan))
        case "stateChanged":
            mark(entry, .event, in: own, role: role)
            if !entry.text.hasSuffix("state=poweredOn") { closeAll(of: role, entry) }
        case "disconnected":
            let link = OpenKey(role: role, lane: device ?? own, subject: .link)
            requestedEnds[link] = nil
            close(entry, link, isFailure: !entry.isOwnEnd)
        default: addOperation(entry, role, device ?? own)
        }
    }

    private mutating func addOperation(_ entry: TraceEntry, _ role: String, _ lane: Int) {
        guard let operation = entry.operation else {
            if entry.name == "disconnect" {
                requestedEnds[OpenKey(role: role, lane: lane, subject: .link)] = line
            }
            let isValue = entry.name == "valueNotified" || entry.name == "channelReceived"
            let kind: Mark.Kind = isValue ? .notification : entry.direction == .command ? .command : .event
            return mark(entry, kind, in: lane, role: role)
        }
        let key = OpenKey(role: role, lane: lane, subject: .operation(operation))
        if entry.direction == .command {
            return begin(entry, entry.name == "connect" ? .connecting : .operation, key, entry.words)
        }
        if open[key] == nil { mark(entry, .event, in: lane, role: role) }
        close(entry, key)
        if entry.name == "connected" {
            requestedEnds[OpenKey(role: role, lane: lane, subject: .link)] = nil
            begin(entry, .link, OpenKey(role: role, lane: lane, subject: .link), "link")
        }
    }

    private mutating func mark(_ entry: TraceEntry, _ kind: TraceTimeline.Mark.Kind, in lane: Int, role: String) {
        let name = entry.name.isEmpty ? entry.text : entry.words
        lanes[lane].marks.append(
            Mark(kind: kind, time: entry.time, line: line, name: name, detail: entry.result, role: role))
    }

    // MARK: Spans

    private mutating func begin(
        _ entry: TraceEntry, _ kind: TraceTimeline.Span.Kind, _ key: OpenKey, _ name: String
    ) {
        if open[key] != nil { close(entry, key) }
        open[key] = lanes[key.lane].spans.count
        lanes[key.lane].spans.append(
            Span(kind: kind, start: entry.time, end: entry.time, lines: line...line, name: name, role: key.role))
    }

    private func finish(_ span: inout Span, at time: Duration, _ last: Int) {
        span.end = time
        span.lines = span.lines.lowerBound...last
    }

    private mutating func close(_ entry: TraceEntry, _ key: OpenKey, isFailure: Bool = false) {
        guard let index = open.removeValue(forKey: key) else { return }
        finish(&lanes[key.lane].spans[index], at: entry.time, line)
        lanes[key.lane].spans[index].outcome = isFailure || entry.error != nil ? .failure : .success
        lanes[key.lane].spans[index].result = entry.result
    }

    /// Ends the scans, links and operations of a role whose adapter is gone.
    private mutating func closeAll(of role: String, _ entry: TraceEntry) {
        for key in open.keys where key.role == role { close(entry, key, isFailure: key.subject != .scan) }
    }
}

extension Sequence<TraceEntry> {
    /// The last name of each peer.
    package var deviceNames: [PeerID: String] {
        reduce(into: [:]) { names, entry in
            if let peer = entry.peer, let device = entry.device { names[peer] = device }
        }
    }
}

extension TraceEntry {
    /// The name and the attribute: `read 180D/2A38`.
    var words: String { details.attribute.map { "\(name) \($0)" } ?? name }

    /// The result: the error, the value with its meaning, or the fields that the name does not imply.
    var result: String {
        if let error = details.error { return error }
        if let value = details.value {
            let bytes = value.isEmpty ? "empty" : value.hexText
            return details.meaning.map { "\(bytes) (\($0))" } ?? bytes
        }
        guard direction != .note else { return "" }
        return fields.filter { field in !Self.identifiers.contains { field.hasPrefix($0) } }.joined(separator: " ")
    }

    private static let identifiers = ["peer=", "link=", "operation=", "attribute=", "service=", "characteristic="]

    /// The fields of the text; a quoted one may contain spaces.
    private var fields: [String] {
        var fields = [""]
        var (isQuoted, isEscaped) = (false, false)
        for character in text.dropFirst(name.count) {
            if character == " ", !isQuoted {
                fields.append("")
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = character == "\\" && !isEscaped
            fields[fields.count - 1].append(character)
        }
        return fields.filter { !$0.isEmpty }
    }

    /// Whether the host itself ended a link.
    fileprivate var isOwnEnd: Bool { text.contains("reason=local") }
}
