import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport

/// Generates the histories of a search: half of their incidents at moments of a first run without incidents.
///
/// Pure: the same search generates the same histories.
struct HistoryGenerator: Sendable {
    let seed: UInt64
    let profile: RadioHistories.Profile
    let rate: Double
    /// The names of the world's devices and hosts.
    let devices: [String]
    let hosts: [String]
    /// The names of the devices that the app met.
    let names: [PeerID: String]
    /// The moments of the run without incidents.
    let moments: HistoryMoments
    /// The steps that the run without incidents performed; all steps if it performed none.
    private let performed: [DeviceFault.Step]

    init(
        seed: UInt64, profile: RadioHistories.Profile, rate: Double, devices: [String], hosts: [String],
        names: [PeerID: String], moments: HistoryMoments
    ) {
        (self.seed, self.profile, self.rate) = (seed, profile, rate)
        (self.devices, self.hosts, self.names, self.moments) = (devices, hosts, names, moments)
        let steps = Set(moments.requests.flatMap { DeviceFault.Step.steps(of: $0.operation) })
            .union(moments.notifications.isEmpty ? [] : [.notify])
        performed = DeviceFault.Step.allCases.filter { steps.isEmpty || steps.contains($0) }
    }

    /// Returns a history.
    ///
    /// - Parameters:
    ///   - number: The number of the history in its search, from 1 on.
    ///   - coverage: The encounters so far; rare ones are preferred.
    func history(_ number: Int, after coverage: HistoryCoverage) -> RadioHistory {
        var random = SeededGenerator(seed: seed, stream: "history \(number)")
        var count = 1
        while count < RadioHistories.maximumSteps, random.happens(1 - 1 / rate) { count += 1 }
        let steps = (0..<count).compactMap { _ in step(&random, coverage) }
        return RadioHistory(seed: random.next(), steps: steps)
    }

    /// Chooses an incident: at any time, or, of a few at moments of the first run, the one whose encounter is the rarest.
    private func step(_ random: inout SeededGenerator, _ coverage: HistoryCoverage) -> RadioHistory.Step? {
        guard random.happens(0.5), moments.hasAny else {
            let incident = incident(&random, nil)
            return incident.map { step(&random, $0, at: random.duration(upTo: moments.end + Self.tail)) }
        }
        let candidates = (0..<Self.candidates).compactMap { _ -> (step: RadioHistory.Step, count: Int)? in
            let target = target(&random)
            guard let incident = incident(&random, target) else { return nil }
            return (step(&random, incident, at: target.time), coverage.counts[target.encounter(with: incident)] ?? 0)
        }
        return candidates.min { $0.count < $1.count }?.step
    }

    private static let candidates = 3

    private func step(
        _ random: inout SeededGenerator, _ incident: RadioHistory.Incident, at time: Duration
    ) -> RadioHistory.Step {
        let duration = incident.lasts ? random.lengths() : .zero
        // A twin is part of the world.
        if case .twin = incident { return RadioHistory.Step(time: .zero, duration: duration, incident: incident) }
        return RadioHistory.Step(time: time, duration: duration, incident: incident)
    }

    /// The time after the end of the first run in which incidents still happen: a run with incidents takes longer.
    private static let tail = Duration.seconds(2)

    // MARK: Moments

    private struct Target {
        var time: Duration
        var operation: String
        var device: String?
        var phase: HistoryCoverage.Phase

        func encounter(with incident: RadioHistory.Incident) -> HistoryCoverage.Encounter {
            let step = incident.faultStep?.rawValue
            return HistoryCoverage.Encounter(
                operation: step ?? operation, incident: incident.kind, phase: step == nil ? phase : .during)
        }
    }

    /// Chooses one of the moments, of which there is at least one: just before or after a request or a notification, or
    /// during a request.
    private func target(_ random: inout SeededGenerator) -> Target {
        let count = moments.requests.count + moments.notifications.count
        let index = Int(random.below(UInt64(count)))
        let phase = HistoryCoverage.Phase.allCases[Int(random.below(3))]
        let nearby = Duration.milliseconds(1)
        if index >= moments.requests.count {
            let value = moments.notifications[index - moments.requests.count]
            return Target(
                time: max(.zero, phase == .before ? value.time - nearby : value.time + nearby),
                operation: "notification", device: value.device.flatMap { names[$0] },
                phase: phase == .before ? .before : .after)
        }
        let request = moments.requests[index]
        let end = request.end ?? moments.end
        let time =
            switch phase {
            case .before: max(.zero, request.begin - nearby)
            case .during: request.begin + random.duration(upTo: end - request.begin)
            case .after: end + nearby
            }
        return Target(
            time: time, operation: request.operation, device: request.device.flatMap { names[$0] }, phase: phase)
    }

    // MARK: Incidents

    private func incident(_ random: inout SeededGenerator, _ target: Target?) -> RadioHistory.Incident? {
        var makers: [(inout SeededGenerator) -> RadioHistory.Incident?] = []
        let device = target?.device.flatMap { devices.contains($0) ? $0 : nil }
        if profile.contains(.walking) { makers += [{ walking(&$0, device) }, { walking(&$0, device) }] }
        if profile.contains(.flakyHost) { makers.append { flakyHost(&$0) } }
        if profile.contains(.hostileDevice) {
            makers += Array(repeating: { hostileDevice(&$0, device, target?.operation) }, count: 4)
        }
        if profile.contains(.twins) { makers.append { twin(&$0) } }
        guard !makers.isEmpty else { return nil }
        return makers[Int(random.below(UInt64(makers.count)))](&random)
    }

    private func walking(_ random: inout SeededGenerator, _ device: String?) -> RadioHistory.Incident? {
        guard let name = device ?? devices.randomElement(using: &random) else { return nil }
        return switch random.below(4) {
        case 0: .interference(Double(random.below(9) + 1) / 10)
        case 1: .device(name, .far)
        default: .device(name, .outOfRange)
        }
    }

    private func flakyHost(_ random: inout SeededGenerator) -> RadioHistory.Incident? {
        guard let name = hosts.randomElement(using: &random) else { return nil }
        return .host(name, [.poweredOff, .unplugged, .resetting][Int(random.below(3))])
    }

    private func hostileDevice(
        _ random: inout SeededGenerator, _ device: String?, _ operation: String?
    ) -> RadioHistory.Incident? {
        guard let name = device ?? devices.randomElement(using: &random) else { return nil }
        switch random.below(11) {
        case 0: return .device(name, .disconnects)
        case 1: return .device(name, .resets)
        case 2: return .device(name, .rotatesAddress)
        case 3: return .device(name, .silent)
        default: return .device(name, fault(&random, operation))
        }
    }

    private func twin(_ random: inout SeededGenerator) -> RadioHistory.Incident? {
        devices.randomElement(using: &random).map { .twin(of: $0) }
    }

    /// Chooses a fault: of the operation at hand if there is one, or else of any that the first run performed.
    private func fault(_ random: inout SeededGenerator, _ operation: String?) -> RadioHistory.DeviceIncident {
        let ofOperation = operation.map { DeviceFault.Step.steps(of: $0) } ?? []
        let choices = ofOperation.isEmpty ? performed : ofOperation
        let step = choices[Int(random.below(UInt64(choices.count)))]
        let effects: [DeviceFault.Effect?] = [
            .loseAnswer, .loseAnswer, .delayAnswer(random.lengths()), .delay(random.lengths()), .fail(), .disconnect,
            .corrupt, nil,
        ]
        let possible = effects.filter { $0?.name.brokenRule(at: step) == nil }
        guard let effect = possible[Int(random.below(UInt64(possible.count)))] else { return .pause(step) }
        let skip = operation == nil ? Int(random.below(3)) : 0
        return .fault(DeviceFault(step, effect, skip: skip))
    }
}

extension RadioHistory.Incident {
    /// Whether the incident has an end.
    var lasts: Bool {
        switch self {
        case .interference, .host: true
        case .twin: false
        case .device(_, let incident):
            switch incident {
            case .outOfRange, .far, .silent, .pause: true
            case .disconnects, .resets, .rotatesAddress, .fault: false
            }
        }
    }
}

extension DeviceFault.Step {
    /// The steps of a command, by its name in a trace.
    fileprivate static func steps(of operation: String) -> [DeviceFault.Step] {
        switch operation {
        case "setNotifying": [.subscribe, .unsubscribe]
        case "notification": [.notify]
        default: DeviceFault.Step(rawValue: operation).map { [$0] } ?? []
        }
    }
}

extension SeededGenerator {
    /// Returns a duration of 0 up to a limit, in whole microseconds.
    fileprivate mutating func duration(upTo limit: Duration) -> Duration {
        .microseconds(Int64(below(UInt64(max(1, limit / .microseconds(1))))))
    }

    /// Returns the length of an incident, 10 ms to 60 s: as often short as long.
    fileprivate mutating func lengths() -> Duration {
        let digits: [Int64] = [1, 2, 3, 5, 7]
        let powers: [Int64] = [10, 100, 1000, 10_000]
        return min(
            .seconds(60), .milliseconds(digits[Int(below(5))] * powers[Int(below(4))]))
    }
}
