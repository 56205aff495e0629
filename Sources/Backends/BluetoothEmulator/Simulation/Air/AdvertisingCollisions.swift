/// The advertising events under way, whose packets destroy each other if they overlap on a channel.
///
/// The list has one entry for each event under way; a set sends its next event after its last one has ended.
struct AdvertisingCollisions: Sendable {
    /// One event under way.
    struct Event: Sendable {
        let packet: AirPacket
        let start: Nanoseconds
        let timing: AdvertisingEventTiming
        /// Whether the packet on each channel was destroyed, one bit per channel.
        fileprivate(set) var destroyed: UInt8 = 0

        /// Whether a host receives the event.
        ///
        /// A host listens all the time, on one channel per scan interval. The channel at the start of the event counts.
        func isReceived(by host: Int) -> Bool {
            let interval = Int(start / AdvertisingCollisions.scanInterval)
            return destroyed & 1 << ((interval + host) % AdvertisingEventTiming.channels) == 0
        }
    }

    /// The time for which a host listens on a channel: 11.25 ms, as BlueZ does during discovery.
    static let scanInterval: Nanoseconds = 11_250_000

    private var events: [Event] = []

    /// The number of events under way.
    var count: Int { events.count }

    /// Begins an event; its packets and those of the events under way destroy each other if they overlap.
    mutating func begin(_ event: Event) {
        var event = event
        for other in events.indices {
            for channel in 0..<AdvertisingEventTiming.channels {
                let packet = event.timing.packet(on: channel, from: event.start)
                guard events[other].timing.packet(on: channel, from: events[other].start).overlaps(packet) else {
                    continue
                }
                events[other].destroyed |= 1 << channel
                event.destroyed |= 1 << channel
            }
        }
        events.append(event)
    }

    /// Ends the oldest event of a set.
    mutating func end(_ packet: AirPacket) -> Event? {
        events.firstIndex { $0.packet.device == packet.device && $0.packet.index == packet.index }
            .map { events.remove(at: $0) }
    }
}

extension AdvertisingCollisions.Event {
    init(_ packet: AirPacket, _ description: AdvertisingDescription, at start: Nanoseconds) {
        self.init(packet: packet, start: start, timing: AdvertisingEventTiming(description))
    }
}
