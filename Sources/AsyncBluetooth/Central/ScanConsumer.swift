import CoreBluetooth
import DequeModule

/// One consumer of the scan.
struct ScanConsumer {
    /// How many devices a consumer remembers; of one that was forgotten the next sighting is new.
    static let deviceLimit = 4_096

    let filter: ScanFilter
    let buffer: ElementBuffer<DiscoveredPeripheral>
    /// The last report of each device, and the devices in the order in which they were first heard.
    private var reported: [UUID: AdvertisedData] = [:]
    private var order: Deque<UUID> = []

    init(_ filter: ScanFilter, _ buffer: ElementBuffer<DiscoveredPeripheral>) {
        self.filter = filter
        self.buffer = buffer
    }

    /// Takes a sighting, which is to be delivered outside the lock; nil if it is not for this consumer.
    mutating func accept(_ data: AdvertisedData, of device: UUID) -> Delivery? {
        guard filter.matches(data) else { return nil }
        let delivery = Delivery(buffer: buffer, allowsDuplicates: filter.allowsDuplicates)
        if filter.allowsDuplicates { return delivery }
        if let old = reported.updateValue(data, forKey: device) { return old == data ? nil : delivery }
        order.append(device)
        if order.count > Self.deviceLimit, let oldest = order.popFirst() { reported[oldest] = nil }
        return delivery
    }

    /// A sighting was not handed over: the next one of the device is new.
    mutating func forget(_ device: UUID) {
        guard reported.removeValue(forKey: device) != nil else { return }
        order.removeAll { $0 == device }
    }

    /// A sighting on its way to the consumer.
    struct Delivery {
        let buffer: ElementBuffer<DiscoveredPeripheral>
        let allowsDuplicates: Bool

        /// Without duplicates a report that waits still is replaced by a newer one of the same device.
        ///
        /// - Returns: Whether there was room.
        func deliver(_ found: DiscoveredPeripheral) -> Bool {
            allowsDuplicates ? buffer.append(found) : buffer.append(found) { $0.peripheral == found.peripheral }
        }
    }
}
