import BluetoothBackend
import BluetoothSupport

// What a device sends on the air.
extension Device {
    /// One packet of an advertising set.
    struct Packet: Sendable {
        let isConnectable: Bool
        let isExtended: Bool
        let rssi: Int
        /// Until the next packet; 0 if there is none.
        let pause: Nanoseconds
    }

    /// Sends a packet, if the set is on the air with this data.
    ///
    /// In place, as it is done for each packet.
    mutating func sendPacket(_ index: Int, _ generation: UInt32, at now: Nanoseconds, deviation: Int) -> Packet? {
        guard sets.indices.contains(index), sets[index].generation == generation else { return nil }
        sets[index].isScheduled = false
        guard isOnAir(index) else { return nil }
        sets[index].lastPacket = now
        // Core Specification, Vol 6, Part B, 4.4.2.2.1: 0–10 ms more, drawn for each packet.
        let interval = sets[index].interval
        let pause = interval == 0 ? 0 : interval + Nanoseconds(delayRandom.below(10_000_001))
        return Packet(
            isConnectable: sets[index].isConnectable, isExtended: sets[index].isExtended,
            rssi: measureRSSI(deviation), pause: pause)
    }

    /// The signal strength of one packet, -127...20 dBm.
    mutating func measureRSSI(_ deviation: Int) -> Int {
        guard deviation > 0 else { return meanRSSI }
        let offset = Int(rssiRandom.below(UInt64(2 * deviation + 1))) - deviation
        return min(20, max(-127, meanRSSI + offset))
    }
}
