/// The advertising interval of a host's peripheral managers, and the content that the host adds to theirs.
///
/// The system decides these; apps cannot set them.
public struct HostAdvertising: Hashable, Sendable {
    /// The time between packets, 20 ms...10.24 s; the link layer adds 0–10 ms each time.
    ///
    /// Source: Core Specification, Vol 6, Part B, 4.4.2.2.
    public var interval: Duration
    /// Whether all advertisements are extended.
    ///
    /// If false, only those are extended that the host's data makes too long for a legacy packet. Adapters without
    /// support for extended advertising do not receive extended advertisements.
    public var isExtended: Bool
    /// The data that the host adds: its services follow the manager's; its name and transmit power apply if the manager
    /// gives none.
    public var data: AdvertisingData

    /// Creates the advertising settings of a host.
    public init(
        interval: Duration = .milliseconds(100), isExtended: Bool = false, data: AdvertisingData = AdvertisingData()
    ) {
        self.interval = interval
        self.isExtended = isExtended
        self.data = data
    }

    /// Checks that the advertising packets can carry the content.
    ///
    /// - Throws: ``DescriptionError`` naming the field and the rule.
    public func validate() throws(DescriptionError) {
        try require(
            AdvertisingDescription.intervals.contains(interval), "interval",
            "the advertising interval is 20 ms...10.24 s")
        // The limit is the largest data of one connectable packet; together with the manager's, it is never truncated.
        try require(
            data.encodedLength <= AdvertisingDescription.extendedRoom, "data",
            "\(data.encodedLength) bytes do not fit: a packet has room for \(AdvertisingDescription.extendedRoom)")
    }

    /// Returns the advertising set of a manager: connectable unless the advertisement says otherwise, and continued
    /// while centrals are connected.
    ///
    /// The name moves to the scan response if it does not fit with the rest.
    func set(of advertisement: Advertisement) -> AdvertisingDescription {
        let services = advertisement.serviceUUIDs ?? []
        let solicited = advertisement.solicitedServiceUUIDs ?? []
        var content = AdvertisingData(
            localName: advertisement.localName ?? data.localName,
            txPowerLevel: advertisement.txPowerLevel ?? data.txPowerLevel,
            services: services + data.services.filter { !services.contains($0) },
            solicitedServices: solicited + data.solicitedServices.filter { !solicited.contains($0) },
            serviceData: data.serviceData.merging(advertisement.serviceData ?? [:]) { $1 },
            manufacturerData: advertisement.manufacturerData ?? data.manufacturerData)
        content.otherStructures = advertisement.otherStructures ?? data.otherStructures
        var nameless = content
        nameless.localName = nil
        let room = AdvertisingDescription.legacyRoom
        // Without data of the host, advertisements stay legacy.
        let mustExtend = isExtended || data != AdvertisingData() && nameless.encodedLength > room
        var scanResponse: AdvertisingData?
        if !mustExtend, content.encodedLength > room {
            scanResponse = content.localName.map { AdvertisingData(localName: $0) }
            content = nameless
        }
        return AdvertisingDescription(
            content, scanResponse: scanResponse, interval: interval,
            isConnectable: advertisement.isConnectable ?? true, continuesWhileConnected: true, isExtended: mustExtend)
    }
}
