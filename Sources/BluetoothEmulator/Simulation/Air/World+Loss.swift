import BluetoothBackend
import BluetoothSupport

// Packets that are lost on a link, and sent again with the next connection event.
extension World {
    /// What lost packets add to a number of round trips.
    ///
    /// Where so many are lost in a row that the supervision timeout runs out, the link falls silent. Without latency
    /// nothing is lost.
    mutating func retransmissionTime(_ roundTrips: Int = 1, on ref: Ref<Link>) -> Nanoseconds {
        guard isLossy, let link = links[ref], link.interval > 0, let device = devices[link.device] else { return 0 }
        let rate = max(configuration.packetLossRate, device.packetLossRate)
        guard rate > 0 else { return 0 }
        var lost: Nanoseconds = 0
        for _ in 0..<max(1, roundTrips) {
            var inARow: Nanoseconds = 0
            while lossRandom.happens(rate) {
                inARow += link.interval
                guard inARow < link.supervisionTimeout else {
                    fallSilent(ref)
                    links[ref]?.isLost = true
                    return lost + inARow
                }
            }
            lost += inARow
        }
        return lost
    }
}
