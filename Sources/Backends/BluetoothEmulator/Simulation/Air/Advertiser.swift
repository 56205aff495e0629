import BluetoothBackend
import BluetoothSupport

/// The advertising sets of a device.
struct Advertiser: Sendable {
    /// One advertising set with its state.
    struct AdvertisingSet: Sendable {
        let description: AdvertisingDescription
        var isEnabled: Bool
        /// Incremented with each change of the data.
        var generation: UInt32 = 0
        var isScheduled = false
        var lastPacket: Nanoseconds?
        /// The phase of the set's packets; nil for any phase of the interval.
        fileprivate var phase: Phase?
        /// The scan epoch in which the scanners of each host heard this data, by host.
        fileprivate var heard: [UInt64] = []
        let interval: Nanoseconds
        /// The number of times the set was switched on.
        fileprivate(set) var enabling: UInt32
        private(set) var advertisement: Advertisement
        private(set) var scanResponse: Advertisement?
        /// The manager that advertises; nil for a described device.
        var manager: Ref<Manager>?

        init(_ description: AdvertisingDescription) {
            self.description = description
            isEnabled = description.isEnabled
            enabling = description.isEnabled ? 1 : 0
            interval = description.interval.nanoseconds
            advertisement = description.data.advertisement(isConnectable: description.isConnectable)
            scanResponse = description.scanResponse?.advertisement(isConnectable: nil)
        }

        /// Creates the set of a manager's advertisement, with what its host adds.
        init(_ advertisement: Advertisement, of manager: Ref<Manager>, _ host: HostAdvertising) {
            self.init(host.set(of: advertisement))
            self.advertisement.overflowServiceUUIDs = advertisement.overflowServiceUUIDs
            self.manager = manager
        }
    }

    /// The phase of a set's packets, relative to the instant at which it was switched on.
    fileprivate struct Phase: Sendable {
        /// The time from that instant to the first packet.
        let delay: Nanoseconds
        var begin: Nanoseconds
    }

    var sets: [AdvertisingSet]
    /// The advertisements of managers, without what their host adds.
    private(set) var requested: [Ref<Manager>: Advertisement] = [:]
    private var random: SeededGenerator

    init(_ sets: [AdvertisingSet], random: SeededGenerator) {
        self.sets = sets
        self.random = random
    }

    // MARK: Sets

    /// Replaces the data of a set, or appends a set; returns false if the index leaves a gap.
    mutating func setDescription(
        _ description: AdvertisingDescription, of index: Int, firstPacket: Nanoseconds?, at now: Nanoseconds
    ) -> Bool {
        guard (0...sets.count).contains(index) else { return false }
        var set = AdvertisingSet(description)
        set.phase = firstPacket.map { Phase(delay: $0, begin: now) }
        if index < sets.count {
            set.lastPacket = sets[index].lastPacket
            set.enabling = sets[index].enabling + 1
        }
        replace(index, with: set)
        return true
    }

    /// Replaces a set whose data has changed, or appends one.
    private mutating func replace(_ index: Int, with set: AdvertisingSet) {
        guard index < sets.count else { return sets.append(set) }
        let generation = sets[index].generation + 1
        sets[index] = set
        sets[index].generation = generation
    }

    /// Advertises for a manager; returns false if all sets, at most `limit`, are in use.
    mutating func advertise(
        _ advertisement: Advertisement, of manager: Ref<Manager>, _ host: HostAdvertising, limit: Int
    ) -> Bool {
        let index = sets.firstIndex { $0.manager == manager } ?? sets.firstIndex { $0.manager == nil } ?? sets.count
        guard index < limit else { return false }
        requested[manager] = advertisement
        replace(index, with: AdvertisingSet(advertisement, of: manager, host))
        return true
    }

    /// Advertises for all managers with other content of their host.
    mutating func advertise(with host: HostAdvertising) {
        for index in sets.indices {
            guard let manager = sets[index].manager, let advertisement = requested[manager] else { continue }
            replace(index, with: AdvertisingSet(advertisement, of: manager, host))
        }
    }

    /// Switches a set, or all of them, on or off.
    mutating func enable(_ index: Int?, _ isOn: Bool, at now: Nanoseconds) {
        for position in sets.indices where index == nil || index == position {
            sets[position].isEnabled = isOn
            guard isOn else { continue }
            sets[position].enabling += 1
            sets[position].phase?.begin = now
        }
    }

    /// Releases the set of a manager that no longer advertises.
    private mutating func free(_ index: Int) {
        if let manager = sets[index].manager { requested[manager] = nil }
        sets[index].manager = nil
        sets[index].isEnabled = false
    }

    /// Releases the set of a manager; returns whether it had one.
    mutating func free(of manager: Ref<Manager>) -> Bool {
        guard let index = sets.firstIndex(where: { $0.manager == manager }) else { return false }
        free(index)
        return true
    }

    mutating func freeAll() { for index in sets.indices { free(index) } }

    /// Lets a manager own the sets of another one.
    mutating func reown(from old: Ref<Manager>, to new: Ref<Manager>) {
        for index in sets.indices where sets[index].manager == old { sets[index].manager = new }
        requested[new] = requested.removeValue(forKey: old)
    }

    /// Handles a change of the address: all scanners hear the data anew.
    mutating func addressChanged() {
        for index in sets.indices {
            sets[index].generation += 1
            sets[index].isScheduled = false
            sets[index].heard = []
        }
    }

    // MARK: Packets

    /// Returns the instant of a set's next packet after a time without listeners.
    ///
    /// The packet has the requested phase, else a random phase of the interval, but is at least an interval after the
    /// last packet.
    mutating func firstPacket(of index: Int, at now: Nanoseconds) -> Nanoseconds {
        let interval = sets[index].interval
        if let phase = sets[index].phase { return packet(of: sets[index], in: phase, at: now) }
        guard interval > 0 else { return now + advertisingDelay() }
        let phase = Nanoseconds(random.below(UInt64(interval))) + 1
        guard let last = sets[index].lastPacket, last + interval > now + phase else { return now + phase }
        return last + interval + advertisingDelay()
    }

    /// Returns the next instant of a set's phase, at least an interval after the last packet.
    private func packet(of set: AdvertisingSet, in phase: Phase, at now: Nanoseconds) -> Nanoseconds {
        let begin = phase.begin + phase.delay
        guard set.interval > 0 else { return max(begin, now) }
        let earliest = max(now, set.lastPacket.map { $0 + set.interval } ?? 0)
        let missed = earliest > begin ? (earliest - begin + set.interval - 1) / set.interval : 0
        return begin + missed * set.interval
    }

    /// Records a packet of a set.
    ///
    /// - Returns: The time until the next packet; 0 if no packet follows.
    mutating func packetSent(of index: Int, at now: Nanoseconds) -> Nanoseconds {
        sets[index].lastPacket = now
        let interval = sets[index].interval
        return interval == 0 ? 0 : interval + advertisingDelay()
    }

    /// Draws the delay of a packet, 0–10 ms (Core Specification, Vol 6, Part B, 4.4.2.2.1).
    private mutating func advertisingDelay() -> Nanoseconds { Nanoseconds(random.below(10_000_001)) }

    /// Whether a host's scanners have the data of a set.
    func isHeard(_ index: Int, by host: Int, in epoch: UInt64) -> Bool {
        host < sets[index].heard.count && sets[index].heard[host] == epoch
    }

    mutating func setHeard(_ index: Int, by host: Int, in epoch: UInt64) {
        let missing = host + 1 - sets[index].heard.count
        if missing > 0 { sets[index].heard.append(contentsOf: repeatElement(0, count: missing)) }
        sets[index].heard[host] = epoch
    }
}

/// The signal of a device, as hosts receive it.
struct DeviceSignal: Sendable {
    /// Whether the host behind the device is on; true for a described device.
    var isOn = true
    var proximity = Proximity.near
    /// The mean signal strength in dBm; nil uses the proximity's.
    var rssi: Int?
    var packetLossRate = 0.0
    private var random: SeededGenerator

    init(random: SeededGenerator) { self.random = random }

    var isInRange: Bool { proximity != .outOfRange }

    /// Whether the device is heard.
    var isPresent: Bool { isOn && isInRange }

    /// Switches the host behind the device on or off; returns whether that is a change.
    mutating func turn(_ isOn: Bool) -> Bool { exchange(&self.isOn, with: isOn) != isOn }

    /// Changes the distance; returns whether the device is now in range or out of range.
    mutating func move(to proximity: Proximity) -> Bool {
        let wasInRange = isInRange
        self.proximity = proximity
        return isInRange != wasInRange
    }

    /// Draws the signal strength of one packet, -127...20 dBm.
    mutating func measure(_ deviation: Int) -> Int {
        let mean = rssi ?? proximity.rssi ?? 127
        guard deviation > 0 else { return mean }
        let offset = Int(random.below(UInt64(2 * deviation + 1))) - deviation
        return min(20, max(-127, mean + offset))
    }
}
