/// The advertising events under way, whose packets destroy each other if they overlap on a channel.
///
/// The list has one entry for each event under way; a set sends its next event after its last one has ended.
struct AdvertisingCollisions: Sendable {
    /// One event under way.
    struct Event: Sendable {
        let device: Ref<Device>
        let set: Int
        let start: Nanoseconds
        let timing: AdvertisingEventTiming
        let rssi: Int
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
    mutating func end(_ device: Ref<Device>, _ set: Int) -> Event? {
        events.firstIndex { $0.device == device && $0.set == set }.map { events.remove(at: $0) }
    }
}

extension AdvertisingCollisions.Event {
    init(_ device: Ref<Device>, _ set: Int, _ description: AdvertisingDescription, at start: Nanoseconds, rssi: Int) {
        self.init(
            device: device, set: set, start: start, timing: AdvertisingEventTiming(description), rssi: rssi)
    }
}

// The simulation of collisions. Without it, a packet is heard at the start of its event.
extension World {
    /// Whether any host listens, so that the packets of all devices matter.
    var isAnyoneListening: Bool {
        hosts.contains { $0.adapter.isOn && (!$0.scanning.scanners.isEmpty || !$0.connecting.isEmpty) }
    }

    /// Begins the packets of a set; their receivers are known when the last packet has ended.
    mutating func beginAdvertisingEvent(_ ref: Ref<Device>, _ index: Int, _ generation: UInt32, _ rssi: Int) {
        guard let set = devices[ref]?.advertiser.sets[index].description else { return }
        let event = AdvertisingCollisions.Event(ref, index, set, at: context.now, rssi: rssi)
        air.collisions.begin(event)
        context.queue.schedule(
            .advertisingEventOver(ref, set: index, generation: generation), at: context.now + event.timing.duration,
            isPeriodic: set.interval != .zero)
    }

    /// Delivers an event to the hosts that listened on a channel without an overlap, if the set is still on the air.
    mutating func advertisingEventOver(_ ref: Ref<Device>, _ index: Int, _ generation: UInt32) {
        guard let event = air.collisions.end(ref, index), let device = devices[ref], device.signal.isPresent,
            device.advertiser.sets.indices.contains(index), device.advertiser.sets[index].generation == generation,
            device.isOnAir(index) || device.advertiser.sets[index].interval == 0
        else { return }
        hear(ref, index, generation, event.rssi, event)
    }
}
