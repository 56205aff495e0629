import BluetoothBackend
import BluetoothSupport
import BluetoothTracing

extension TraceTimeline {
    /// Returns a trace in Chrome's JSON format, which the viewer at ui.perfetto.dev and about:tracing open.
    ///
    /// Each role and each device is a process; times are in microseconds. Each event is one line with its fields in a
    /// fixed order.
    ///
    /// Source: Trace Event Format.
    public func perfettoTrace() -> String {
        var number = 0
        let events = lanes.enumerated().flatMap { index, lane in
            [PerfettoEvent(name: "process_name", phase: "M", process: index + 1, arguments: ["name": lane.title])]
                + lane.spans.flatMap { span in
                    number += 1
                    return PerfettoEvent.pair(span, number, process: index + 1)
                } + lane.marks.map { PerfettoEvent($0, process: index + 1) }
                + lane.sightings.map { PerfettoEvent($0, process: index + 1) }
        }
        let lines = events.map(\.line).joined(separator: ",\n")
        return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n\(lines)\n]}\n"
    }
}

/// An event of a trace in Chrome's format.
private struct PerfettoEvent {
    var name: String
    var phase: String
    var category: String?
    var id: Int?
    var time: Duration?
    var process: Int
    var arguments: [(String, JSONText)] = []

    init(name: String, phase: String, process: Int, arguments: KeyValuePairs<String, String>) {
        (self.name, self.phase, self.process) = (name, phase, process)
        self.arguments = arguments.map { ($0, JSONText($1)) }
    }

    /// Returns the begin and the end of a span, as asynchronous events, because spans may overlap.
    static func pair(_ span: TraceTimeline.Span, _ id: Int, process: Int) -> [PerfettoEvent] {
        var begin = PerfettoEvent(name: span.name, phase: "b", process: process, arguments: ["role": span.role])
        (begin.category, begin.id, begin.time) = (span.kind.rawValue, id, span.start)
        var end = PerfettoEvent(
            name: span.name, phase: "e", process: process,
            arguments: ["outcome": span.outcome.rawValue, "result": span.result])
        (end.category, end.id, end.time) = (span.kind.rawValue, id, span.end)
        return [begin, end]
    }

    init(_ mark: TraceTimeline.Mark, process: Int) {
        self.init(
            name: mark.name, phase: "i", process: process, arguments: ["role": mark.role, "detail": mark.detail])
        (category, time) = (mark.kind.rawValue, mark.time)
    }

    init(_ sighting: TraceTimeline.Sighting, process: Int) {
        self.init(name: "rssi", phase: "C", process: process, arguments: [:])
        arguments = [("dBm", JSONText(number: "\(sighting.rssi)"))]
        time = sighting.time
    }

    private func microseconds(_ time: Duration) -> Double { (time.inSeconds * 1e9).rounded() / 1e3 }

    var line: String {
        var fields = [("ph", JSONText(phase))]
        if let category { fields.append(("cat", JSONText(category))) }
        fields.append(("name", JSONText(name)))
        if let id { fields.append(("id", JSONText("\(id)"))) }
        if phase == "i" { fields.append(("s", JSONText("p"))) }
        fields += [("pid", JSONText(number: "\(process)")), ("tid", JSONText(number: "1"))]
        if let time { fields.append(("ts", JSONText(number: "\(microseconds(time))"))) }
        fields.append(("args", JSONText(fields: arguments)))
        return JSONText(fields: fields).text
    }
}

/// A JSON value as text.
struct JSONText {
    let text: String

    init(number: String) { text = number }

    init(_ string: String) {
        let escaped = string.printable.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\"", "\\": escaped += "\\\(scalar)"
            // The JSON is part of a page, so it must not end its element.
            case "<", ">", "&": escaped += scalar.jsonEscape
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        text = "\"\(escaped)\""
    }

    init(list: [JSONText]) { text = "[" + list.map(\.text).joined(separator: ",") + "]" }

    init(fields: [(String, JSONText)]) {
        text = "{" + fields.map { JSONText($0).text + ":" + $1.text }.joined(separator: ",") + "}"
    }
}
