import BluetoothEmulator

/// The encounters of operations with incidents in the histories of a search.
struct HistoryCoverage: Sendable {
    /// The time of an incident relative to an operation.
    enum Phase: String, Codable, Sendable, CaseIterable {
        /// At most 100 ms before the request.
        case before
        case during
        /// At most 100 ms after the answer.
        case after
    }

    /// An operation, an incident, and the phase of the operation in which they met.
    struct Encounter: Hashable, Sendable {
        /// The command, or `notification`.
        var operation: String
        /// The incident in a word or two, such as `loseAnswer`.
        var incident: String
        var phase: Phase
    }

    private(set) var counts: [Encounter: Int] = [:]

    /// The longest time between an incident and an operation that it precedes or follows.
    static let vicinity = Duration.milliseconds(100)

    mutating func add(_ encounters: some Sequence<Encounter>) {
        for encounter in encounters { counts[encounter, default: 0] += 1 }
    }

    /// Returns the encounters of a history in its run, each once.
    static func encounters(of history: RadioHistory, in moments: HistoryMoments) -> Set<Encounter> {
        var found: Set<Encounter> = []
        for step in history.steps where step.incident.faultStep == nil {
            let incident = step.incident.kind
            for request in moments.requests {
                guard let phase = phase(of: step.time, from: request.begin, to: request.end ?? moments.end)
                else { continue }
                found.insert(Encounter(operation: request.operation, incident: incident, phase: phase))
            }
            for value in moments.notifications {
                guard let phase = phase(of: step.time, from: value.time, to: value.time) else { continue }
                found.insert(Encounter(operation: "notification", incident: incident, phase: phase))
            }
        }
        // A fault is met by its step, whenever it was injected.
        for (step, effect) in moments.faults {
            found.insert(Encounter(operation: step.rawValue, incident: effect.name.rawValue, phase: .during))
        }
        return found
    }

    private static func phase(of time: Duration, from begin: Duration, to end: Duration) -> Phase? {
        if time < begin { return begin - time <= vicinity ? .before : nil }
        if time <= end { return .during }
        return time - end <= vicinity ? .after : nil
    }

    /// The coverage in one line, for the log of a test run.
    var summary: String {
        let operations = Set(counts.keys.map(\.operation)), incidents = Set(counts.keys.map(\.incident))
        return "\(counts.count) encounters of \(operations.count) operations with \(incidents.count) incidents"
    }
}

extension HistoryCoverage: Codable {
    private struct Row: Codable {
        var operation: String
        var incident: String
        var phase: Phase
        var histories: Int
    }

    /// Reads what ``encode(to:)`` writes.
    init(from decoder: any Decoder) throws {
        for row in try [Row](from: decoder) {
            counts[Encounter(operation: row.operation, incident: row.incident, phase: row.phase)] = row.histories
        }
    }

    /// Writes the encounters, sorted, each with the number of histories in which it happened.
    func encode(to encoder: any Encoder) throws {
        let rows = counts.map { encounter, count in
            Row(
                operation: encounter.operation, incident: encounter.incident, phase: encounter.phase, histories: count)
        }
        try rows.sorted {
            ($0.operation, $0.incident, $0.phase.rawValue) < ($1.operation, $1.incident, $1.phase.rawValue)
        }.encode(to: encoder)
    }
}

extension RadioHistory.Incident {
    /// The step of a central that meets the incident, whenever it begins; nil for an incident at its own time.
    var faultStep: DeviceFault.Step? {
        switch self {
        case .device(_, .fault(let fault)): fault.step
        case .device(_, .pause(let step)): step
        default: nil
        }
    }
}
