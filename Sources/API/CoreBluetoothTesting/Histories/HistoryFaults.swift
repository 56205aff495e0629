import BluetoothBackend
import BluetoothEmulator
import BluetoothInstrumentation
import BluetoothSupport
import Foundation

/// The fault plan of a history: what a wrapper around the backend of an adapter can repeat of it.
///
/// Pure. The times of a history are those of its run, and an adapter has others. The plan therefore names the messages
/// that the incidents met in the run: the second write of the first manager.
struct HistoryFaults: Sendable {
    private(set) var plan: FaultPlan
    /// The steps that no plan can repeat.
    private(set) var leftOut: [(step: RadioHistory.Step, reason: String)] = []

    private var messages: MessageSequence
    private let trace: [TraceEntry]
    /// The notes of the trace, by index, whose faults belong to an earlier step.
    private var taken: Set<Int> = []

    private typealias Target = (message: MessageSequence.Message, effect: FaultEffect)

    /// The reason for which no plan can repeat a step.
    private struct NoCounterpart: Error {
        var reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// Converts a history.
    ///
    /// - Parameter trace: The trace of a run under the history.
    init(_ history: RadioHistory, _ trace: [TraceEntry]) {
        self.trace = trace
        messages = MessageSequence(trace)
        plan = FaultPlan(seed: history.seed, faults: [])
        var targets: [Target] = []
        for step in history.steps {
            do throws(NoCounterpart) {
                targets += try self.targets(of: step)
            } catch {
                leftOut.append((step, error.reason))
            }
        }
        // After all insertions, which count.
        plan.faults = targets.map { messages.fault(at: $0.message, $0.effect) }
    }

    private mutating func targets(of step: RadioHistory.Step) throws(NoCounterpart) -> [Target] {
        switch step.incident {
        case .interference: throw NoCounterpart("a plan concerns messages, not packets")
        case .twin: throw NoCounterpart("a plan creates no device")
        case .host: throw NoCounterpart("a plan does not change the adapter's state")
        case .device(let name, let incident):
            switch incident {
            case .far: throw NoCounterpart("a plan does not change the signal")
            case .silent: throw NoCounterpart("a plan does not change the advertising")
            case .rotatesAddress: throw NoCounterpart("a plan does not change the address")
            case .outOfRange, .disconnects, .resets: return try linkEnds(of: name, from: step.time)
            case .fault(let fault): return try targets(of: fault, on: name, step)
            case .pause(let paused): return try targets(of: DeviceFault(paused, .pause), on: name, step)
            }
        }
    }

    // MARK: Ends of links

    /// The messages with which the links to a device end that were up at a time.
    private mutating func linkEnds(of device: String, from time: Duration) throws(NoCounterpart) -> [Target] {
        var (targets, wasIdle): ([Target], Bool) = ([], false)
        for manager in messages.managers {
            let all = messages.messages(of: device, manager: manager)
            let bounds = all.filter {
                [.centralEvent(.connected), .centralEvent(.disconnected), .centralCommand(.disconnect)].contains(
                    $0.kind)
            }
            guard let begin = bounds.last(where: { $0.time <= time }), begin.kind == .centralEvent(.connected),
                let end = bounds.first(where: { $0.order > begin.order }), end.kind == .centralEvent(.disconnected),
                let reason = end.reason
            else { continue }
            let passed = all.filter { begin.order < $0.order && $0.order < end.order }
            if let target = target(ending: passed, at: end, from: time) {
                targets.append((target, .disconnect(reason: reason)))
            } else {
                wasIdle = true
            }
        }
        if targets.isEmpty {
            throw NoCounterpart(wasIdle ? "no message met the end of the link" : "it ended no link of the app")
        }
        return targets
    }

    /// The first message that was lost with a link: a command after a time, the answer to an earlier one, or a
    /// notification.
    private mutating func target(
        ending passed: [MessageSequence.Message], at end: MessageSequence.Message, from time: Duration
    ) -> MessageSequence.Message? {
        for message in passed {
            guard case .centralCommand(let kind) = message.kind, let answer = kind.answer else { continue }
            if message.time >= time, messages.isOpen(message, at: end.order) { return message }
            if message.operation != nil, messages.isOpen(message, at: end.order) {
                return messages.insert(answer, like: message, after: end.order - 2)
            }
        }
        guard let value = passed.last(where: { $0.kind == .centralEvent(.valueNotified) }) else { return nil }
        return messages.insert(.valueNotified, like: value, after: end.order - 2)
    }

    // MARK: Faults

    private mutating func targets(
        of fault: DeviceFault, on device: String, _ step: RadioHistory.Step
    ) throws(NoCounterpart) -> [Target] {
        if fault.step == .pair { throw NoCounterpart("a pairing passes unchanged") }
        var targets: [Target] = []
        for number in 0..<(fault.count ?? .max) {
            guard let note = takeNote(of: fault, on: device, from: step.time) else { break }
            let due = step.time + step.duration - trace[note].time
            switch fault.step {
            case .notify: targets += try notification(fault, on: device, at: note, resumedAfter: due)
            case .writeCommand:
                let commands = messages.messages(of: device, characteristic: fault.characteristic?.uuid).filter {
                    $0.kind == .centralCommand(.writeCommand) && $0.time >= step.time
                }
                targets.append(
                    try target(commands.dropFirst(fault.skip + number).first, fault, at: note, resumedAfter: due))
            default:
                let command = messages.messages(of: device, characteristic: fault.characteristic?.uuid).first {
                    $0.kind == fault.step.command.map(FaultKind.centralCommand) && $0.order < note * 2
                        && messages.isOpen($0, at: note * 2)
                }
                targets.append(try target(command, fault, at: note, resumedAfter: due))
            }
        }
        if targets.isEmpty { throw NoCounterpart("no message met it") }
        return targets
    }

    /// Returns the index of the next note that a fault was met.
    private mutating func takeNote(of fault: DeviceFault, on device: String, from time: Duration) -> Int? {
        let note = trace.indices.first { index in
            guard trace[index].time >= time, trace[index].device == device, let met = trace[index].metFault else {
                return false
            }
            return met.step == fault.step.rawValue && met.effect == fault.effect.name.rawValue && !taken.contains(index)
        }
        if let note { taken.insert(note) }
        return note
    }

    /// - Parameter due: The time from the note to the end of a pause.
    private mutating func target(
        _ command: MessageSequence.Message?, _ fault: DeviceFault, at note: Int, resumedAfter due: Duration
    ) throws(NoCounterpart) -> Target {
        guard let command, case .centralCommand(let kind) = command.kind, let answer = kind.answer else {
            throw NoCounterpart("it met no command of the app")
        }
        switch fault.effect {
        case .fail(let code): return (command, fault.step.refusal(code))
        case .delay(let time): return (command, fault.step.delay(by: time))
        case .pause: return (command, fault.step.delay(by: due))
        case .disconnect: return (command, kind == .connect ? fault.step.refusal() : .disconnect(reason: .remote))
        case .loseAnswer:
            return (messages.answer(to: command, answer, after: note * 2), .disconnect(reason: .timeout))
        case .delayAnswer(let time):
            return (messages.answer(to: command, answer, after: note * 2), fault.step.delay(by: time))
        case .corrupt: return (messages.answer(to: command, answer, after: note * 2), .corrupt)
        }
    }

    private mutating func notification(
        _ fault: DeviceFault, on device: String, at note: Int, resumedAfter due: Duration
    ) throws(NoCounterpart) -> [Target] {
        // The value arrives, and the link ends later.
        if fault.effect == .loseAnswer { return try linkEnds(of: device, from: trace[note].time) }
        let all = messages.messages(of: device, characteristic: fault.characteristic?.uuid)
        let value = FaultKind.centralEvent(.valueNotified)
        func next() -> MessageSequence.Message? { all.first { $0.kind == value && $0.order > note * 2 } }
        func lost() -> MessageSequence.Message? {
            let kinds: Set = [value, .centralEvent(.notifyingChanged)]
            guard let last = all.last(where: { kinds.contains($0.kind) && $0.order < note * 2 }) else { return nil }
            return messages.insert(.valueNotified, like: last, after: note * 2)
        }
        let (message, effect): (MessageSequence.Message?, FaultEffect) =
            switch fault.effect {
            case .fail: (lost(), .drop)
            case .disconnect: (lost(), .disconnect(reason: .remote))
            case .delay(let time): (next(), .delay(by: time))
            case .pause: (next(), .delay(by: due))
            case .corrupt: (next(), .corrupt)
            case .loseAnswer, .delayAnswer: (nil, .drop)
            }
        guard let message else { throw NoCounterpart("it met no notification to the app") }
        return [(message, effect)]
    }
}

extension DeviceFault.Step {
    /// The command that begins the step; nil for a step of the device, and for pairing.
    fileprivate var command: CentralCommand.Kind? {
        switch self {
        case .subscribe, .unsubscribe: .setNotifying
        default: CentralCommand.Kind(rawValue: rawValue)
        }
    }

    /// The failure of a command that the device refuses.
    fileprivate func refusal(_ code: ATTCode = .unlikelyError) -> FaultEffect {
        switch self {
        case .connect: .error(BackendError(.connectionFailed, operation: rawValue))
        case .readRSSI: .error(BackendError(.unknown, operation: rawValue))
        case .openChannel: .error(BackendError(.outOfSpace, operation: rawValue))
        case .writeCommand: .drop
        default: .error(.att(code.rawValue, operation: rawValue))
        }
    }

    /// A delay; the end of the link for one that a request does not outlast (Core Specification, Vol 3, Part F, 3.3.3).
    fileprivate func delay(by time: Duration) -> FaultEffect {
        isATTRequest && time >= .seconds(30) ? .disconnect(reason: .timeout) : .delay(by: time)
    }
}

extension TraceEntry {
    /// The step and the effect of a fault that was met; nil for other lines.
    var metFault: (step: String, effect: String)? {
        guard category == .note, let begin = text.range(of: "fault applied to ")?.upperBound else { return nil }
        let words = text[begin...].split(separator: " ")
        guard words.count > 1, words[0].last == ":" else { return nil }
        return (String(words[0].dropLast()), String(words[1]))
    }
}
