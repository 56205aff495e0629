#if os(Linux)
import BluetoothDBus

/// The signal strengths at which a monitor finds and loses devices, and the interval of its reports.
///
/// Pure. Source: BlueZ, `src/adv_monitor.c`, `parse_rssi_and_timeout`; `doc/org.bluez.AdvertisementMonitor.rst`.
struct MonitorThresholds: Equatable, Sendable {
    /// The strength in dBm above which a device is found, after `highTimeout` of such packets.
    private(set) var high = -127
    private(set) var highTimeout = Duration.seconds(10)
    /// The strength in dBm below which a device is lost, after `lowTimeout` of such packets or of none.
    private(set) var low = -127
    private(set) var lowTimeout = Duration.seconds(5)
    /// The time between two reports of a found device; zero reports each packet, nil only the first one.
    private(set) var samplingPeriod: Duration?

    private static let names = [
        "RSSIHighThreshold", "RSSIHighTimeout", "RSSILowThreshold", "RSSILowTimeout", "RSSISamplingPeriod",
    ]

    /// The thresholds of a monitor; nil if it has none and finds each device that matches.
    ///
    /// - Throws: `InvalidArguments` for a value that has a wrong type or is out of range.
    static func thresholds(_ properties: [String: DBusValue]) throws(DBusError) -> MonitorThresholds? {
        let numbers = try numbers(properties)
        let set = numbers.filter { !isUnset($0.key, $0.value) }
        guard !set.isEmpty else { return nil }
        return try MonitorThresholds(set)
    }

    /// - Parameter numbers: The properties that are set: dBm, seconds, and units of 100 ms.
    private init(_ numbers: [String: Int]) throws(DBusError) {
        low = numbers["RSSILowThreshold"] ?? low
        high = numbers["RSSIHighThreshold"] ?? low
        highTimeout = numbers["RSSIHighTimeout"].map { .seconds($0) } ?? highTimeout
        lowTimeout = numbers["RSSILowTimeout"].map { .seconds($0) } ?? lowTimeout
        if let period = numbers["RSSISamplingPeriod"], period < 255 { samplingPeriod = .milliseconds(100 * period) }
        let timeouts: ClosedRange<Duration> = .seconds(1) ... .seconds(300)
        guard (-127...20).contains(low), (-127...20).contains(high), low <= high, timeouts.contains(highTimeout),
            timeouts.contains(lowTimeout), (0...255).contains(numbers["RSSISamplingPeriod"] ?? 0)
        else { throw BlueZError.invalidArguments }
    }

    private static func numbers(_ properties: [String: DBusValue]) throws(DBusError) -> [String: Int] {
        var numbers: [String: Int] = [:]
        for name in names {
            switch (properties[name], name.hasSuffix("Threshold")) {
            case (nil, _): break
            case (.int16(let value)?, true): numbers[name] = Int(value)
            case (.uint16(let value)?, false): numbers[name] = Int(value)
            default: throw BlueZError.invalidArguments
            }
        }
        return numbers
    }

    /// Whether a value means the same as an absent property: 127 dBm, 0 s or 256 units.
    private static func isUnset(_ name: String, _ value: Int) -> Bool {
        value == (name.hasSuffix("Threshold") ? 127 : name.hasSuffix("Timeout") ? 0 : 256)
    }
}

/// A device that a monitor hears.
///
/// Pure. Source: BlueZ, `src/adv_monitor.c`, `adv_monitor_filter_rssi`.
struct MonitoredDevice: Sendable {
    enum Change: Sendable {
        case found
        case lost
    }

    private(set) var isFound = false
    /// The number of the current timer; an earlier timer has no effect.
    var timer: UInt64?
    private(set) var lastPacket = Duration.zero
    private var lastReport: Duration?
    /// The first packet of the current run of strong ones, and of the current run of weak ones.
    private var (strongSince, weakSince): (Duration?, Duration?) = (nil, nil)

    /// Records a packet.
    ///
    /// - Returns: The change that it causes, and whether clients receive the packet.
    mutating func hear(
        _ rssi: Int, _ thresholds: MonitorThresholds?, at now: Duration
    ) -> (change: Change?, isReported: Bool) {
        guard let thresholds else { return (exchange(&isFound, with: true) ? nil : .found, true) }
        let pause = now - lastPacket
        if pause > thresholds.highTimeout { strongSince = nil }
        if pause > thresholds.lowTimeout { weakSince = nil }
        lastPacket = now
        let wasFound = isFound
        strongSince = !isFound && rssi > thresholds.high ? strongSince ?? now : nil
        if let strongSince, now - strongSince >= thresholds.highTimeout { isFound = true }
        weakSince = isFound && rssi < thresholds.low ? weakSince ?? now : nil
        if let weakSince, now - weakSince >= thresholds.lowTimeout { lose() }
        let change: Change? = isFound == wasFound ? nil : isFound ? .found : .lost
        return (change, isFound && isDue(thresholds, at: now))
    }

    private mutating func isDue(_ thresholds: MonitorThresholds, at now: Duration) -> Bool {
        if let lastReport {
            guard let period = thresholds.samplingPeriod, now - lastReport >= period else { return false }
        }
        lastReport = now
        return true
    }

    /// Resets the device after it is lost, so that its next packet can be its first one.
    mutating func lose() { self = MonitoredDevice() }
}
#endif
