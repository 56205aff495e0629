import BluetoothEmulator
import BluetoothSupport

/// The search for the simplest history that still fails: with fewer steps, shorter, earlier, milder.
///
/// Pure. The caller runs ``next()`` and reports the result, until there is no further candidate.
struct HistoryShrinker: Sendable {
    /// The largest number of candidates.
    static let limit = 200

    /// The simplest history that is known to fail.
    private(set) var simplest: RadioHistory
    /// The number of candidates so far.
    private(set) var runs = 0
    private var tried: Set<RadioHistory> = []
    private var candidate: RadioHistory?

    /// Begins with a history that fails.
    init(_ failing: RadioHistory) { simplest = failing }

    /// Returns a simpler history to run; nil if none is left, or at the limit.
    mutating func next() -> RadioHistory? {
        guard runs < Self.limit, let next = simplest.simplerOnes.first(where: { !tried.contains($0) })
        else { return nil }
        runs += 1
        tried.insert(next)
        candidate = next
        return next
    }

    /// Reports that the last candidate fails.
    mutating func fails() {
        if let candidate { simplest = candidate }
    }
}

extension RadioHistory {
    /// The histories that are simpler by one change, the greatest change first.
    ///
    /// Each has fewer steps than this one, or as many that are shorter, earlier or milder in all.
    fileprivate var simplerOnes: [RadioHistory] {
        var simpler: [RadioHistory] = []
        // Half of the steps, then all but one.
        if steps.count > 2 {
            let half = steps.count / 2
            simpler += [Array(steps.prefix(half)), Array(steps.suffix(half))].map {
                RadioHistory(seed: seed, steps: $0)
            }
        }
        if steps.count > 1 {
            simpler += steps.indices.map { index in
                var steps = steps
                steps.remove(at: index)
                return RadioHistory(seed: seed, steps: steps)
            }
        }
        for (index, step) in steps.enumerated() {
            simpler += step.simplerOnes.map { replacement in
                var steps = steps
                steps[index] = replacement
                return RadioHistory(seed: seed, steps: steps)
            }
        }
        return simpler
    }
}

extension RadioHistory.Step {
    fileprivate var simplerOnes: [RadioHistory.Step] {
        var simpler: [RadioHistory.Step] = []
        for time in time.simplerOnes {
            simpler.append(RadioHistory.Step(time: time, duration: duration, incident: incident))
        }
        for length in duration.simplerOnes where length > .zero {
            simpler.append(RadioHistory.Step(time: time, duration: length, incident: incident))
        }
        for milder in incident.milderOnes {
            simpler.append(RadioHistory.Step(time: time, duration: duration, incident: milder))
        }
        return simpler
    }
}

extension RadioHistory.Incident {
    fileprivate var milderOnes: [RadioHistory.Incident] {
        switch self {
        case .interference(let chance) where chance > 0.1: [.interference((chance * 5).rounded(.down) / 10)]
        case .device(let name, .outOfRange): [.device(name, .far)]
        case .device(let name, .fault(let fault)):
            fault.milderOnes.map { .device(name, .fault($0)) }
        default: []
        }
    }
}

extension DeviceFault {
    fileprivate var milderOnes: [DeviceFault] {
        var milder: [DeviceFault] = []
        func add(_ effect: DeviceFault.Effect) {
            var fault = self
            fault.effect = effect
            milder.append(fault)
        }
        switch effect {
        case .delay(let time): for time in time.simplerOnes where time > .zero { add(.delay(time)) }
        case .delayAnswer(let time): for time in time.simplerOnes where time > .zero { add(.delayAnswer(time)) }
        case .fail, .pause, .disconnect, .loseAnswer, .corrupt: break
        }
        if skip > 0 {
            var fault = self
            fault.skip = skip - 1
            milder.append(fault)
        }
        return milder
    }
}

extension Duration {
    /// Zero, the half, and the duration rounded down to seconds, tenths, hundredths and thousandths.
    fileprivate var simplerOnes: [Duration] {
        guard self > .zero else { return [] }
        let milliseconds = Int64(self / .milliseconds(1))
        let rounded = [Int64(1000), 100, 10, 1].map { Duration.milliseconds(milliseconds / $0 * $0) }
        return [.zero, .milliseconds(milliseconds / 2)].filter { $0 < self } + rounded.filter { $0 < self }
    }
}
