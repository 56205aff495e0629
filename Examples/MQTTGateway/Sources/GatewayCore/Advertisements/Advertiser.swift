import Foundation

/// A device that advertises values, and what was published of them; a pure state machine.
///
/// A value that changes is published, but not sooner after the last message than the rule's minimum interval: then the
/// newest waits for its end. One that does not change is published again after the rule's repeat interval, as long as
/// the device is heard.
struct Advertiser: Sendable {
    /// How many values of a device are published; strangers may send any.
    static let valueLimit = 32
    /// The events of a device: buttons are pressed in quick succession.
    private static let eventLimit = RateLimit(burst: 8, interval: .seconds(1))

    /// What became of the values of an advertisement.
    struct Changes: Sendable {
        /// The values to publish.
        var published: [AdvertisedReading] = []
        /// Those that were not seen before.
        var new: [AdvertisedReading] = []
        /// How many were left out for the minimum interval.
        var dropped = 0
    }

    private struct Published {
        var reading: AdvertisedReading
        var at: ContinuousClock.Instant
        /// The newest value that waits.
        var waiting: AdvertisedReading?
    }

    let minimumInterval: Duration
    let repeatInterval: Duration
    /// When the device was heard last; nil for one that an earlier process heard.
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

    /// Whether the bytes are to be decoded: they are new, or something is due to be published again.
    ///
    /// - Returns: Whether they are, and whether they are more than a repetition of the last ones.
    mutating func hear(_ new: Data, at now: ContinuousClock.Instant) -> (isDecoded: Bool, isNew: Bool) {
        let silence = heard.map { now - $0 }
        heard = now
        let isNew = bytes != new || silence.map { $0 >= minimumInterval } ?? true
        bytes = new
        return (isNew || values.values.contains { now - $0.at >= repeatInterval }, isNew)
    }

    /// Updates the values from an advertisement.
    ///
    /// - Parameter isNew: Whether it may tell of new events; without a packet number, one that has other bytes, or
    ///   comes after a silence, does.
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

    /// Updates a value that holds until the next one.
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

    /// When the next value is due that waits for the end of its interval; nil if none does.
    var due: ContinuousClock.Instant? {
        values.values.filter { $0.waiting != nil }.map { $0.at + minimumInterval }.min()
    }

    /// The values that have waited for the end of their interval.
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
