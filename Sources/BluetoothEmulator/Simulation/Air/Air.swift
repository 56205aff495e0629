import BluetoothSupport

/// The medium that all devices share: the addresses in use, and the lost packets.
struct Air: Sendable {
    var addresses: Set<DeviceAddress> = []
    /// The number of advertising packets that were sent.
    var packets: UInt64 = 0
    /// Whether packets may be lost on some link.
    var isLossy: Bool
    /// The advertising events under way; empty if packets do not collide.
    var collisions = AdvertisingCollisions()
    private var receptionRandom: SeededGenerator
    private var lossRandom: SeededGenerator

    init(seed: UInt64, isLossy: Bool) {
        self.isLossy = isLossy
        receptionRandom = SeededGenerator(seed: seed, stream: "reception")
        lossRandom = SeededGenerator(seed: seed, stream: "loss")
    }

    /// Draws whether a scanner misses an advertising packet.
    mutating func misses(_ rate: Double) -> Bool { receptionRandom.happens(rate) }

    /// Draws the time that lost packets add to a number of round trips; each is sent again with the next connection
    /// event.
    ///
    /// - Returns: The time, and whether consecutive losses lasted as long as the supervision timeout.
    mutating func retransmissionTime(
        _ roundTrips: Int, lossRate: Double, _ timing: LinkTiming
    ) -> (time: Nanoseconds, isLinkLost: Bool) {
        var lost: Nanoseconds = 0
        for _ in 0..<max(1, roundTrips) {
            var inARow: Nanoseconds = 0
            while lossRandom.happens(lossRate) {
                inARow += timing.interval
                guard inARow < timing.supervisionTimeout else { return (lost + inARow, true) }
            }
            lost += inARow
        }
        return (lost, false)
    }
}

extension World {
    /// Draws the time that lost packets add to a number of round trips on a link.
    ///
    /// If consecutive losses last as long as the supervision timeout, the link falls silent. Without latency, no packet
    /// is lost.
    mutating func retransmissionTime(_ roundTrips: Int = 1, on ref: Ref<Link>) -> Nanoseconds {
        guard air.isLossy, let device = links[ref]?.device, let timing = links[ref]?.timing, timing.interval > 0
        else { return 0 }
        let rate = max(context.configuration.packetLossRate, devices[device]?.signal.packetLossRate ?? 0)
        guard rate > 0 else { return 0 }
        let (time, isLost) = air.retransmissionTime(roundTrips, lossRate: rate, timing)
        if time > 0 { recordLosses(Int(time / timing.interval), on: ref, of: device) }
        if isLost {
            fallSilent(ref)
            links[ref]?.supervision.isLost = true
        }
        return time
    }
}
