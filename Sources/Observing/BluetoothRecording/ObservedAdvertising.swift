import BluetoothBackend
import BluetoothEmulator
import BluetoothSupport

/// The advertisements of a device in scan reports, from which an advertising set is inferred.
struct ObservedAdvertising: Sendable {
    /// The largest number of reports that are used.
    private static let maximumReports = 256
    /// The smallest number of reports that determine an interval.
    private static let fewestReports = 8
    private static let defaultInterval = Duration.milliseconds(100)
    /// The mean of the delay of 0–10 ms that the link layer adds (Core Specification, Vol 6, Part B, 4.4.2.2).
    private static let meanDelay = Duration.milliseconds(5)

    private var merged = Advertisement()
    /// The scan response, if a scan distinguishes it from the advertisements.
    private var scanResponse: Advertisement?
    private var signals: [Int] = []
    private var gaps: [Duration] = []
    private var lastTime: Duration?

    var localName: String? { merged.localName ?? scanResponse?.localName }

    mutating func add(_ advertisement: Advertisement, rssi: Int?, at time: Duration) {
        merged.merge(advertisement)
        if let rssi, (-127...20).contains(rssi), signals.count < Self.maximumReports { signals.append(rssi) }
        // A report that follows immediately is the scan response.
        if let lastTime, time - lastTime > .milliseconds(10), gaps.count < Self.maximumReports {
            gaps.append(time - lastTime)
        }
        lastTime = time
    }

    mutating func add(scanResponse advertisement: Advertisement) {
        var known = scanResponse ?? Advertisement()
        known.merge(advertisement)
        scanResponse = known
    }

    /// The median signal strength in dBm.
    var rssi: Int? { signals.isEmpty ? nil : signals.sorted()[signals.count / 2] }

    /// The interval that follows from the median gap.
    private var interval: Duration {
        guard gaps.count >= Self.fewestReports else { return Self.defaultInterval }
        let median = gaps.sorted()[gaps.count / 2] - Self.meanDelay
        let rounded = Duration.milliseconds(Int64((median.inSeconds * 1000).rounded()))
        return min(.milliseconds(10_240), max(.milliseconds(20), rounded))
    }

    /// Returns the advertising set: the packet contains what fits, and the scan response the rest; or an extended
    /// packet contains everything.
    ///
    /// - Parameters:
    ///   - name: The name of a device that advertised none.
    ///   - redact: Replaces the data that identifies the device.
    func description(name: String?, _ redact: (Data) -> Data) -> AdvertisingDescription {
        var all = AdvertisingData(merged, redact)
        var set = AdvertisingDescription(all, interval: interval, isConnectable: merged.isConnectable ?? true)
        if let scanResponse {
            set.scanResponse = AdvertisingData(scanResponse, redact)
            if isValid(set) { return set }
            set.scanResponse = nil
            var both = merged
            both.merge(scanResponse)
            all = AdvertisingData(both, redact)
        }
        all.localName = all.localName ?? name
        set.data = all
        if isValid(set) { return set }
        let name = all.localName.take()
        set.data = all
        set.scanResponse = AdvertisingData(localName: name)
        if isValid(set) { return set }
        set.data = AdvertisingData(services: all.services, solicitedServices: all.solicitedServices)
        (all.services, all.solicitedServices, all.localName) = ([], [], name)
        set.scanResponse = all
        if isValid(set) { return set }
        all.services = set.data.services
        all.solicitedServices = set.data.solicitedServices
        (set.data, set.scanResponse, set.isExtended) = (all, nil, true)
        return isValid(set) ? set : AdvertisingDescription(AdvertisingData(), interval: interval)
    }

    /// Whether the set can be advertised.
    private func isValid(_ set: AdvertisingDescription) -> Bool {
        do throws(DescriptionError) {
            try set.validate()
            return true
        } catch {
            return false
        }
    }
}

extension AdvertisingData {
    /// Creates the advertised data, without the data that identifies the device.
    fileprivate init(_ advertisement: Advertisement, _ redact: (Data) -> Data) {
        self.init(advertisement)
        self.redact(redact)
    }
}
