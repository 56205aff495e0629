import Foundation

/// A device that advertises values, and the state of their publication; a pure state machine.
///
/// A changed value is published, but not before the end of the rule's minimum interval after the last message: the
/// newest value waits until then. An unchanged value is published again after the rule's repeat interval, as long as
/// the device is heard.
struct Advertiser: Sendable {
    /// The number of values of a device that are published; a device may send any number.
    static let valueLimit = 32
    /// The rate limit of a device's events: buttons are pressed in quick succession.
    private static let eventLimit = RateLimit(burst: 8, interval: .seconds(1))

    /// The treatment of an advertisement's values.
    struct Changes: Sendable {
        /// The values to publish.
        var published: [AdvertisedReading] = []
        /// The values that were not seen before.
        var new: [AdvertisedReading] = []
        /// The number of values that were omitted because of the minimum interval.
        var dropped = 0
    }

    private struct Published {
        var reading: AdvertisedReading
        var at: ContinuousClock.Instant
        /// The newest value that waits to be published.
        var waiting: AdvertisedReading?
    }

    let minimumInterval: Duration
    let repeatInterval: Duration
    /// The time at which the device was last heard; nil for one that only an earlier process heard.
    private(set) var heard: ContinuousClock.Instant?
    private var bytes: Data?
    private var packet: Int?
    private var values: [String: Published] = [:]
    private var events: Set<String> = []
    private var eventLimit = Self.eventLimit
    /// The kinds of log lines that were written.
    var logged: Set<String> = []

    init(_ rule: AdvertisementRule) {
        minimumInterval = rule.minimumInterval
        repeatInterval = rule.repeatInterval
    }

    /// Returns whether the bytes must be decoded: they are new, or a value is due to be published again.
    ///
    /// - Returns: Whether to decode them, and whether they are more than a repetition of the last ones.
    mutating func hear(_ new: Data, at now: ContinuousClock.Instant) -> (isDecoded: Bool, isNew: Bool) {
        let silence = heard.map { now - $0 }
        heard = now
        let isNew = bytes != new || silence.map { $0 >= minimumInterval } ?? true
        bytes = new
        return (isNew || values.values.contains { now - $0.at >= repeatInterval }, isNew)
    }

    /// Updates the values from an advertisement.
    ///
    /// - Parameter isNew: Whether it may contain new events; without a packet number, an advertisement may if it has
    ///   other bytes, or follows a silence.
    mutating func update(_ content: AdvertisedContent, isNew: Bool, at now: ContinuousClock.Instant) -> Changes {
        let isNewPacket = isNew && (content.packet == nil || content.packet != packet)
        packet = content.packet
        var changes = Changes()
        for reading in content.readings {
            if case .event = reading.kind {
                if isNewPacket { takeEvent(reading, &changes, at: now) }
            } else {
                update(reading, &changes, at: now)
            }
        }
        return changes
    }

    private mutating func takeEvent(
        _ event: AdvertisedReading, _ changes: inout Changes, at now: ContinuousClock.Instant
    ) {
        if !events.contains(event.id) {
            guard hasRoom else { return changes.dropped += 1 }
            events.insert(event.id)
            changes.new.append(event)
        }
        if eventLimit.admits(at: now) { changes.published.append(event) } else { changes.dropped += 1 }
    }

    /// Updates a value that remains valid until the next one.
    mutating func update(_ reading: AdvertisedReading, _ changes: inout Changes, at now: ContinuousClock.Instant) {
        guard let last = values[reading.id] else {
            guard hasRoom else { return changes.dropped += 1 }
            values[reading.id] = Published(reading: reading, at: now)
            changes.new.append(reading)
            return changes.published.append(reading)
        }
        let isSame = last.reading.value == reading.value
        if now - last.at >= (isSame ? repeatInterval : minimumInterval) {
            values[reading.id] = Published(reading: reading, at: now)
            changes.published.append(reading)
        } else {
            if last.waiting != nil { changes.dropped += 1 }
            values[reading.id]?.waiting = isSame ? nil : reading
        }
    }

    private var hasRoom: Bool { values.count + events.count < Self.valueLimit }

    /// The time at which the next waiting value is due; nil without one.
    var due: ContinuousClock.Instant? {
        values.values.filter { $0.waiting != nil }.map { $0.at + minimumInterval }.min()
    }

    /// Takes the values whose interval has ended.
    mutating func takeDue(at now: ContinuousClock.Instant) -> [AdvertisedReading] {
        var readings: [AdvertisedReading] = []
        for (id, value) in values.sorted(by: { $0.key < $1.key }) where now - value.at >= minimumInterval {
            guard let waiting = value.waiting else { continue }
            values[id] = Published(reading: waiting, at: now)
            readings.append(waiting)
        }
        return readings
    }
}
