/// The interval of the advertisements of a host's peripheral managers, and their content besides that of the managers.
///
/// Apps cannot ask for any of that; systems decide it.
public struct HostAdvertising: Hashable, Sendable {
    /// The time between packets, 20 ms...10.24 s; the link layer adds 0–10 ms each time.
    ///
    /// Source: Core Specification, Vol 6, Part B, 4.4.2.2.
    public var interval: Duration
    /// Whether advertisements are extended, which adapters without that support do not hear; those whose data does not fit
    /// into a legacy packet are in any case.
    public var isExtended: Bool
    /// The data beside the manager's: its services come after the manager's; its name and its transmit power count where
    /// the manager gives none.
    public var data: AdvertisingData

    /// An interval and content.
    public init(
        interval: Duration = .milliseconds(100), isExtended: Bool = false, data: AdvertisingData = AdvertisingData()
    ) {
        self.interval = interval
        self.isExtended = isExtended
        self.data = data
    }

    /// Checks what an advertising packet can carry.
    ///
    /// - Throws: ``DescriptionError`` naming field and rule.
    public func validate() throws(DescriptionError) {
        try require(
            AdvertisingDescription.intervals.contains(interval), "interval",
            "the advertising interval is 20 ms...10.24 s")
        // The largest data of one connectable packet; with the manager's, it is cut nowhere.
        try require(
            data.encodedLength <= AdvertisingDescription.extendedRoom, "data",
            "\(data.encodedLength) bytes do not fit: a packet has room for \(AdvertisingDescription.extendedRoom)")
    }

    /// The advertising set of a manager: connectable unless it says otherwise, and continued while centrals are connected.
    ///
    /// The name is in the scan response where it does not fit beside the rest.
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
