import BluetoothBackend
import BluetoothSupport
import BluetoothValues

/// The behavior of a device that replays a recording.
///
/// Answers that the recording lacks are made up, with a line in the trace.
struct RecordedBehavior: DeviceBehavior {
    private typealias Operation = RecordedRequest.Operation

    /// A notification that is due later.
    private struct Pending {
        var attribute: RecordedAttribute
        var value: Data
    }

    private let answers: RecordedAnswers
    private let options: ReplayOptions
    private var attributes: [AttributeID: RecordedAttribute] = [:]
    private var random = SeededGenerator(seed: 0, stream: "replay")
    /// The numbers of recorded answers given so far to reads, writes and subscriptions.
    private var readCounts: [RecordedAttribute: Int] = [:]
    private var writeCounts: [RecordedWrite: Int] = [:]
    private var subscriptionCounts: [RecordedAttribute: Int] = [:]
    /// The attributes to which centrals wrote values that are not in the recording.
    private var stored: Set<RecordedAttribute> = []
    private var series: SeriesPlayer
    /// The notifications that writes caused, by the number of their timers.
    private var pending: [Int: Pending] = [:]
    private var connections = 0
    private var nextTimer = Self.firstConsequence

    init(_ replay: RecordingReplay) {
        options = replay.options
        answers = RecordedAnswers(replay.recording, speed: replay.options.speed)
        series = SeriesPlayer(answers.series, isLooped: replay.options.notifications == .loop)
    }

    // MARK: The device

    mutating func begin(_ database: AttributeDatabase, address: DeviceAddress, seed: UInt64) {
        random = SeededGenerator(seed: seed, stream: "replay \(address)")
        attributes = database.recordedAttributes
    }

    mutating func responseTime(_ step: DeviceFault.Step, _ attribute: AttributeID, _ written: WritePart?) -> Duration? {
        guard options.latency == .recorded, let path = attributes[attribute],
            let operation = Operation(rawValue: step.rawValue)
        else { return nil }
        let own: RecordedAnswers.Answer? =
            switch operation {
            case .read: stored.contains(path) ? nil : next(answers.reads[path], readCounts[path], isRead: true)
            case .write, .writeCommand:
                written.map { RecordedWrite(path, $0) }.flatMap { next(answers.writes[$0], writeCounts[$0])?.answer }
            case .subscribe: next(answers.subscriptions[path], subscriptionCounts[path])
            case .unsubscribe: nil
            }
        return own?.duration ?? answers.durations[operation]?.randomElement(using: &random)
    }

    /// Returns the next recorded answer; the last one is repeated.
    private func next<Answer>(_ answers: [Answer]?, _ count: Int?, isRead: Bool = false) -> Answer? {
        guard let answers, !answers.isEmpty else { return nil }
        if isRead, options.reads == .last { return answers[answers.count - 1] }
        return answers[min(count ?? 0, answers.count - 1)]
    }

    // MARK: Reads and writes

    mutating func respond(to request: PeripheralRequest, device: inout DeviceActions) -> PeripheralResponse {
        guard let path = attributes[request.attribute] else { return .stored }
        return request.written.map { write(RecordedWrite(path, $0), &device) } ?? read(path, &device)
    }

    private mutating func read(_ path: RecordedAttribute, _ device: inout DeviceActions) -> PeripheralResponse {
        if stored.contains(path) { return .stored }
        guard let answer = next(answers.reads[path], readCounts[path], isRead: true) else {
            device.log("a read of \(path) is not in the recording: the value of the description")
            return .stored
        }
        readCounts[path, default: 0] += 1
        return answer.error.map { .error($0) } ?? answer.value.map { .value($0) } ?? .stored
    }

    private mutating func write(_ write: RecordedWrite, _ device: inout DeviceActions) -> PeripheralResponse {
        guard let outcome = next(answers.writes[write], writeCounts[write]) else {
            device.log("a write of \(write.value.hexText) to \(write.attribute) is not in the recording: stored")
            stored.insert(write.attribute)
            return .stored
        }
        writeCounts[write, default: 0] += 1
        for (attribute, notification) in outcome.consequences {
            guard pending.count < Self.maximumPending else {
                device.log("\(Self.maximumPending) recorded notifications are due: a further one is left out")
                break
            }
            pending[nextTimer] = Pending(attribute: attribute, value: notification.value)
            device.startTimer(nextTimer, after: notification.pause)
            nextTimer += 1
        }
        return outcome.answer.error.map { .error($0) } ?? .stored
    }

    // MARK: Subscriptions

    mutating func respond(to procedure: PeripheralProcedure, device: inout DeviceActions) -> ProcedureResponse {
        guard procedure.kind == .subscribe, let path = procedure.attribute.flatMap({ attributes[$0] }) else {
            return .granted
        }
        let answer = next(answers.subscriptions[path], subscriptionCounts[path])
        subscriptionCounts[path, default: 0] += 1
        return answer?.error.map { .error($0) } ?? .granted
    }

    // MARK: Events

    /// The numbers of timers: series count from 0, then the end of the link, then the notifications that writes cause.
    private static let linkEnd = 1_000_000
    private static let firstConsequence = 1_000_001
    /// The maximum number of pending notifications; recorded devices have fewer.
    private static let maximumPending = 1_000

    mutating func handle(_ event: DeviceEvent, device: inout DeviceActions) {
        for change in series.changes(by: event) { play(change, &device) }
        switch event {
        case .connected:
            if connections < answers.closings.count, let time = answers.closings[connections] {
                device.startTimer(Self.linkEnd, after: time)
            }
            connections += 1
        case .disconnected: device.stopTimer(Self.linkEnd)
        case .timer(Self.linkEnd): device.disconnect()
        case .timer(let number):
            if let due = pending.removeValue(forKey: number) {
                device.notify(due.attribute.path, value: due.value)
            } else if let step = series.step(number) {
                device.notify(step.attribute.path, value: step.value)
                if let pause = step.pause {
                    device.startSeries(number, after: pause)
                } else {
                    device.stopTimer(number)
                }
            }
        default: break
        }
    }

    /// Begins a series with the first subscriber, or ends it with the last one.
    private mutating func play(_ change: Subscribers<AttributeID>.Change, _ device: inout DeviceActions) {
        switch change {
        case .began(let attribute):
            guard let path = attributes[attribute], let (number, pause) = series.begin(path) else { return }
            device.startSeries(number, after: pause)
        case .ended(let attribute):
            guard let path = attributes[attribute], let number = series.index(of: path) else { return }
            device.stopTimer(number)
        }
    }
}

/// The series of notifications of a recording; each plays from the first subscription to the end of the last.
private struct SeriesPlayer: Sendable {
    private struct Series: Sendable {
        let attribute: RecordedAttribute
        let notifications: [RecordedAnswers.Notification]
        var position = 0
    }

    private var subscribers = Subscribers<AttributeID>()
    private var series: [Series]
    private let isLooped: Bool

    init(_ notifications: [RecordedAttribute: [RecordedAnswers.Notification]], isLooped: Bool) {
        let ordered = notifications.sorted { "\($0.key)" < "\($1.key)" }
        series = ordered.map { Series(attribute: $0.key, notifications: $0.value) }
        self.isLooped = isLooped
    }

    /// Applies an event, and returns the characteristics whose series it begins or ends.
    mutating func changes(by event: DeviceEvent) -> [Subscribers<AttributeID>.Change] {
        subscribers.apply(event) { attribute, _ in attribute }
    }

    /// Returns the number of the series of an attribute; nil without one.
    func index(of attribute: RecordedAttribute) -> Int? { series.firstIndex { $0.attribute == attribute } }

    /// Begins the series of an attribute.
    ///
    /// - Returns: The number of the series, and the time before its first notification; nil without one.
    mutating func begin(_ attribute: RecordedAttribute) -> (Int, Duration)? {
        guard let index = index(of: attribute) else { return nil }
        series[index].position = 0
        return (index, series[index].notifications[0].pause)
    }

    /// Returns the next notification of a series, and the time until the one after it; nil at the end of the series.
    mutating func step(_ index: Int) -> (attribute: RecordedAttribute, value: Data, pause: Duration?)? {
        guard series.indices.contains(index) else { return nil }
        let (attribute, all) = (series[index].attribute, series[index].notifications)
        guard all.indices.contains(series[index].position) else { return nil }
        let value = all[series[index].position].value
        series[index].position += 1
        if all.indices.contains(series[index].position) {
            return (attribute, value, all[series[index].position].pause)
        }
        guard isLooped else { return (attribute, value, nil) }
        series[index].position = 0
        return (attribute, value, RecordedAnswers.loopPause(all))
    }
}

extension RecordedWrite {
    fileprivate init(_ attribute: RecordedAttribute, _ written: WritePart) {
        self.init(attribute, written.value, offset: UInt16(clamping: written.offset))
    }
}

extension DeviceActions {
    /// Starts the timer for the next notification of a series, which does not keep the world from being idle.
    fileprivate mutating func startSeries(_ number: Int, after pause: Duration) {
        startTimer(number, after: pause, every: max(.milliseconds(1), pause))
    }
}

extension AttributeDatabase {
    /// The characteristics and descriptors by their names in recordings.
    fileprivate var recordedAttributes: [AttributeID: RecordedAttribute] {
        var attributes: [AttributeID: RecordedAttribute] = [:]
        var counts: [RecordedAttribute: Int] = [:]
        for service in services {
            guard let serviceUUID = self[service]?.uuid else { continue }
            for characteristic in self[service]?.children ?? [] {
                guard let uuid = self[characteristic]?.uuid else { continue }
                var path = RecordedAttribute(service: serviceUUID, characteristic: uuid)
                let index = counts[path, default: 0]
                counts[path] = index + 1
                path.index = index
                attributes[characteristic] = path
                for descriptor in self[characteristic]?.children ?? [] {
                    path.descriptor = self[descriptor]?.uuid
                    attributes[descriptor] = path
                }
            }
        }
        return attributes
    }
}
