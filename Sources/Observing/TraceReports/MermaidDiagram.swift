import BluetoothBackend
import BluetoothSupport
import BluetoothTracing

extension TraceTimeline {
    /// Returns the last steps as a sequence diagram in Mermaid's language, which GitHub and GitLab render.
    ///
    /// - Parameter lastSteps: The largest number of arrows and notes.
    public func mermaidDiagram(lastSteps: Int = 40) -> String {
        let steps = MermaidStep.all(of: self).suffix(max(0, lastSteps))
        var participants: [String] = []
        for name in steps.flatMap(\.participants) where !participants.contains(name) { participants.append(name) }
        let numbers = Dictionary(uniqueKeysWithValues: participants.enumerated().map { ($1, "P\($0)") })
        let lines =
            participants.map { "participant \(numbers[$0] ?? "") as \(MermaidStep.escaped($0))" }
            + steps.map { $0.line(numbers) }
        return (["sequenceDiagram"] + lines.map { "    " + $0 }).joined(separator: "\n") + "\n"
    }
}

/// An arrow or a note of a sequence diagram.
private struct MermaidStep {
    var time: Duration
    var from: String
    /// The receiver; nil for a note.
    var to: String?
    var arrow = "->>"
    var text: String

    var participants: [String] { [from] + [to].compactMap(\.self) }

    static func all(of timeline: TraceTimeline) -> [MermaidStep] {
        timeline.lanes.flatMap { lane in
            lane.spans.flatMap { steps(of: $0, in: lane) } + lane.marks.map { step(of: $0, in: lane) }
        }
        .enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    }

    /// Returns a request and its answer.
    private static func steps(of span: TraceTimeline.Span, in lane: TraceTimeline.Lane) -> [MermaidStep] {
        let isOwn = lane.kind == .role
        let latency = (span.end - span.start).shortText
        let result = span.result.isEmpty ? latency : "\(span.result), \(latency)"
        switch span.kind {
        case .link:
            guard span.outcome != .open else { return [] }
            return [MermaidStep(time: span.end, from: lane.title, text: "link ends: \(result)")]
        case .scan: return [MermaidStep(time: span.start, from: span.role, text: "scans for \(latency)")]
        case .connecting, .operation:
            let request = MermaidStep(time: span.start, from: span.role, to: lane.title, text: span.name)
            if isOwn { return [MermaidStep(time: span.start, from: span.role, text: "\(span.name): \(result)")] }
            switch span.outcome {
            case .open:
                return [request, MermaidStep(time: span.end, from: lane.title, text: "\(span.name): no answer")]
            case .failure:
                return [
                    request,
                    MermaidStep(time: span.end, from: lane.title, to: span.role, arrow: "--x", text: result),
                ]
            case .success:
                return [
                    request,
                    MermaidStep(time: span.end, from: lane.title, to: span.role, arrow: "-->>", text: result),
                ]
            }
        }
    }

    private static func step(of mark: TraceTimeline.Mark, in lane: TraceTimeline.Lane) -> MermaidStep {
        let text = mark.detail.isEmpty ? mark.name : "\(mark.name) \(mark.detail)"
        switch mark.kind {
        case .notification where lane.kind == .device:
            return MermaidStep(time: mark.time, from: lane.title, to: mark.role, text: text)
        case .command where lane.kind == .device:
            return MermaidStep(time: mark.time, from: mark.role, to: lane.title, arrow: "-)", text: text)
        default: return MermaidStep(time: mark.time, from: lane.title, text: text)
        }
    }

    func line(_ numbers: [String: String]) -> String {
        let text = Self.escaped(text)
        guard let to else { return "Note over \(numbers[from] ?? ""): \(text)" }
        return "\(numbers[from] ?? "")\(arrow)\(numbers[to] ?? ""): \(text)"
    }

    /// Returns the text without characters that have a meaning in the language.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "#", ";", ":", "<", ">", "\"": escaped += "#\(scalar.value);"
            case _ where !scalar.isPrintable: escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
