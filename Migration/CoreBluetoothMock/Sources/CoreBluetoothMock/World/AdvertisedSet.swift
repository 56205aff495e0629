import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// An advertising set of a spec as the emulator sends it, and the data that is added to its reports.
struct AdvertisedSet {
    /// The description for the emulator; initially off if the set has a delay.
    let description: AdvertisingDescription
    /// The time to the first packet; nil for a set that is on from the start, or that sends nothing.
    let delay: Duration?
    /// The time from each switching on to the first packet: a whole interval, and zero after a delay.
    let firstPacket: Duration
    /// The time between packets if it is longer than Bluetooth allows; each of them is switched on separately.
    let period: Duration?
    /// The data that a packet cannot contain: unknown keys, and data that is too long.
    private let extras: [String: Any]

    /// Creates the set of a spec, connectable if its data says so and the peripheral accepts connections.
    init(_ config: CBMAdvertisementConfig, acceptsConnections: Bool) {
        let isConnectable = acceptsConnections && config.isConnectable
        let (data, extras) = Self.fit(config.data, isConnectable: isConnectable)
        let interval = Duration(seconds: config.interval, clampedTo: .zero ... .seconds(1_000_000))
        let first = Duration(seconds: config.delay, clampedTo: .zero ... .seconds(1_000_000))
        let isOneShot = interval == .zero || interval > Self.longestInterval
        self.extras = extras
        firstPacket = first > .zero || isOneShot ? .zero : max(interval, .milliseconds(20))
        period = interval > Self.longestInterval ? interval : nil
        delay = if first > .zero { first } else if let period { period } else { nil }
        description = AdvertisingDescription(
            data, interval: isOneShot ? .zero : max(interval, .milliseconds(20)), isConnectable: isConnectable,
            continuesWhileConnected: config.isAdvertisingWhenConnected, isEnabled: delay == nil && !isOneShot,
            isExtended: data.encodedLength > (isConnectable ? 28 : 31))
    }

    /// The longest interval of an advertising set (Core Specification, Vol 6, Part B, 4.4.2.2).
    private static let longestInterval = Duration.milliseconds(10_240)

    // MARK: Data

    /// Returns the data that one packet can contain, and the rest.
    private static func fit(_ data: [String: Any], isConnectable: Bool) -> (AdvertisingData, [String: Any]) {
        var carried = data.filter { known.contains($0.key) && AdvertisingData($0.key, $0.value) != nil }
        let room = isConnectable ? 245 : 1_650
        var result = AdvertisingData(carried)
        for key in known where result.encodedLength > room {
            carried[key] = nil
            result = AdvertisingData(carried)
        }
        let extras = data.filter { carried[$0.key] == nil && $0.key != CBMAdvertisementDataIsConnectable }
        return (result, extras)
    }

    /// The keys that a packet has a field for; the first ones are omitted first if they do not fit.
    private static let known = [
        CBMAdvertisementDataManufacturerDataKey, CBMAdvertisementDataServiceDataKey,
        CBMAdvertisementDataSolicitedServiceUUIDsKey, CBMAdvertisementDataServiceUUIDsKey,
        CBMAdvertisementDataLocalNameKey, CBMAdvertisementDataTxPowerLevelKey,
    ]

    /// Adds the data that packets cannot contain to a report, if it contains the data that they do contain.
    func complete(_ report: inout [String: Any]) {
        guard !extras.isEmpty, description.data.isContained(in: report) else { return }
        report.merge(extras) { reported, _ in reported }
    }
}

extension CBMAdvertisementConfig {
    /// Whether the data allows a central to connect.
    fileprivate var isConnectable: Bool {
        (data[CBMAdvertisementDataIsConnectable] as? NSNumber)?.boolValue
            ?? (data[CBMAdvertisementDataIsConnectable] as? Bool) ?? false
    }
}

extension AdvertisingData {
    /// Reads the content of a dictionary.
    fileprivate init(_ dictionary: [String: Any]) {
        self.init()
        for (key, value) in dictionary { set(key, value) }
    }

    /// Reads the content of one entry; nil for a value of the wrong type.
    fileprivate init?(_ key: String, _ value: Any) {
        self.init()
        guard set(key, value) else { return nil }
    }

    @discardableResult
    private mutating func set(_ key: String, _ value: Any) -> Bool {
        switch (key, value) {
        case (CBMAdvertisementDataLocalNameKey, let name as String): localName = name
        case (CBMAdvertisementDataServiceUUIDsKey, let uuids as [CBMUUID]): services = uuids.map { BluetoothUUID($0) }
        case (CBMAdvertisementDataSolicitedServiceUUIDsKey, let uuids as [CBMUUID]):
            solicitedServices = uuids.map { BluetoothUUID($0) }
        case (CBMAdvertisementDataManufacturerDataKey, let data as Data): manufacturerData = data
        case (CBMAdvertisementDataServiceDataKey, let data as [CBMUUID: Data]):
            serviceData = Dictionary(data.map { (BluetoothUUID($0.key), $0.value) }) { $1 }
        case (CBMAdvertisementDataTxPowerLevelKey, let power as NSNumber):
            txPowerLevel = Int8(clamping: power.intValue)
        case (CBMAdvertisementDataTxPowerLevelKey, let power as Int): txPowerLevel = Int8(clamping: power)
        default: return false
        }
        return true
    }

    /// Returns whether a report contains all of this.
    fileprivate func isContained(in report: [String: Any]) -> Bool {
        let other = AdvertisingData(report)
        return (localName == nil || localName == other.localName)
            && (txPowerLevel == nil || txPowerLevel == other.txPowerLevel)
            && (manufacturerData == nil || manufacturerData == other.manufacturerData)
            && Set(services).isSubset(of: other.services)
            && Set(solicitedServices).isSubset(of: other.solicitedServices)
            && serviceData.allSatisfy { other.serviceData[$0.key] == $0.value }
    }
}
