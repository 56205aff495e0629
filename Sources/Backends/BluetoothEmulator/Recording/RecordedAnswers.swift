import BluetoothBackend
import BluetoothSupport
import BluetoothValues

/// The answers of a recorded device, indexed for a replay.
struct RecordedAnswers: Sendable {
    /// The answer to a request.
    struct Answer: Hashable, Sendable {
        /// The value of a read; nil if the read failed, and for other requests.
        var value: Data?
        var error: ATTCode?
        var duration: Duration?
    }

    /// A notification and the pause before it: since the answer to its cause, the subscription, or the previous
    /// notification.
    struct Notification: Hashable, Sendable {
        var pause: Duration
        var value: Data
    }

    /// The answer to a write, and the notifications that it caused.
    struct WriteOutcome: Sendable {
        var answer = Answer()
        /// The instant of the answer, or of a write command.
        var endedAt = Duration.zero
        var consequences: [(attribute: RecordedAttribute, notification: Notification)] = []
    }

    private(set) var reads: [RecordedAttribute: [Answer]] = [:]
    private(set) var writes: [RecordedWrite: [WriteOutcome]] = [:]
    private(set) var subscriptions: [RecordedAttribute: [Answer]] = [:]
    /// The notifications without a cause, each with the pause before it.
    private(set) var series: [RecordedAttribute: [Notification]] = [:]
    /// The durations of the answered requests, by operation.
    private(set) var durations: [RecordedRequest.Operation: [Duration]] = [:]
    /// The time after which the device closed each link; nil if the link ended for another reason.
    private(set) var closings: [Duration?] = []

    /// - Parameter speed: The factor by which all times are divided.
    init(_ recording: DeviceRecording, speed: Double = 1) {
        var builder = Builder(caused: Self.causedAttributes(recording.events), speed: speed)
        for event in recording.events { builder.add(event, to: &self) }
    }

    /// Returns the characteristics whose notifications all followed a write; others notify by themselves.
    private static func causedAttributes(_ events: [RecordedEvent]) -> Set<RecordedAttribute> {
        var (caused, uncaused): (Set<RecordedAttribute>, Set<RecordedAttribute>) = ([], [])
        for case .notified(let attribute, _, let cause) in events.lazy.map(\.kind) {
            if cause == nil { uncaused.insert(attribute) } else { caused.insert(attribute) }
        }
        return caused.subtracting(uncaused)
    }

    /// Returns the pause after which a series begins again: the median of the pauses within it.
    static func loopPause(_ series: [Notification]) -> Duration {
        let pauses = series.dropFirst().map(\.pause).sorted()
        return pauses.isEmpty ? .seconds(1) : max(.milliseconds(1), pauses[pauses.count / 2])
    }

    private struct Builder {
        let caused: Set<RecordedAttribute>
        let speed: Double
        var linkOpened: Duration?
        /// The instant from which the pause before a characteristic's next notification counts.
        var last: [RecordedAttribute: Duration] = [:]

        mutating func add(_ event: RecordedEvent, to answers: inout RecordedAnswers) {
            switch event.kind {
            case .advertised: break
            case .linkOpened:
                (linkOpened, last) = (event.time, [:])
                answers.closings.append(nil)
            case .linkClosed(let reason):
                guard reason == .remote, let linkOpened, !answers.closings.isEmpty else { break }
                answers.closings[answers.closings.count - 1] = scaled(event.time - linkOpened)
            case .request(let request): add(request, at: event.time, to: &answers)
            case .notified(let attribute, let value, let cause):
                if let cause, caused.contains(attribute) {
                    addConsequence(of: cause, attribute, value, at: event.time, to: &answers)
                } else {
                    let start = last[attribute] ?? linkOpened ?? event.time
                    answers.series[attribute, default: []].append(
                        Notification(pause: scaled(event.time - start), value: value))
                    last[attribute] = event.time
                }
            }
        }

        private mutating func add(_ request: RecordedRequest, at time: Duration, to answers: inout RecordedAnswers) {
            let answer = Answer(
                value: request.operation == .read ? request.value : nil, error: request.error,
                duration: request.duration.map(scaled))
            if let duration = answer.duration { answers.durations[request.operation, default: []].append(duration) }
            switch request.operation {
            case .read: answers.reads[request.attribute, default: []].append(answer)
            case .write, .writeCommand:
                let write = RecordedWrite(request.attribute, request.value ?? Data(), offset: request.offset)
                answers.writes[write, default: []].append(
                    WriteOutcome(answer: answer, endedAt: time + (request.duration ?? .zero)))
            case .subscribe:
                answers.subscriptions[request.attribute, default: []].append(answer)
                if answer.error == nil { last[request.attribute] = time + (request.duration ?? .zero) }
            case .unsubscribe: last[request.attribute] = nil
            }
        }

        private func addConsequence(
            of cause: RecordedWrite, _ attribute: RecordedAttribute, _ value: Data, at time: Duration,
            to answers: inout RecordedAnswers
        ) {
            // In place, because a device that is polled collects all outcomes in one list.
            answers.writes[cause, default: [WriteOutcome(endedAt: time)]].withLast { outcome in
                let pause = scaled(time - outcome.endedAt)
                outcome.consequences.append((attribute, Notification(pause: pause, value: value)))
            }
        }

        private func scaled(_ duration: Duration) -> Duration { max(.zero, duration) / speed }
    }
}

extension Array {
    /// Changes the last element, if any.
    fileprivate mutating func withLast(_ body: (inout Element) -> Void) {
        if !isEmpty { body(&self[count - 1]) }
    }
}
