public import CoreBluetooth
import DequeModule

/// Scanning.
extension Central {
    /// Scans for devices.
    ///
    /// The scan begins with the loop and ends with it. Several scans share one scan of the system, and each receives
    /// its own devices.
    ///
    /// A slow consumer receives the newest report of each device, unless it allows duplicates; devices whose reports
    /// did not fit are reported after it has read the others. Without duplicates the last 4,096 devices are remembered.
    ///
    /// - Parameters:
    ///   - services: The services of which a device must advertise one; empty for all devices.
    ///   - soliciting: The services of which a device may solicit one instead.
    ///   - allowDuplicates: Whether to deliver every report, not only new and changed ones.
    ///   - buffering: The number of reports that wait for a slow consumer; nil for the policy of the settings.
    /// - Returns: A sequence that throws ``BluetoothError`` when the adapter becomes unavailable.
    public func scan(
        for services: [CBUUID] = [], soliciting: [CBUUID] = [], allowDuplicates: Bool = false,
        buffering: BufferingPolicy? = nil
    ) -> ValueSequence<DiscoveredPeripheral> {
        let handle = self.handle
        let filter = ScanFilter(
            services: Set(services), solicited: Set(soliciting), allowsDuplicates: allowDuplicates)
        let policy = (buffering ?? handle.core.settings.buffering).forScan(allowsDuplicates: allowDuplicates)
        return ValueSequence {
            let buffer = ElementBuffer<DiscoveredPeripheral>(
                policy, filter.context, handle.core.log,
                // A restarted scan reports the devices again whose reports did not fit.
                onGapRead: { if !allowDuplicates { handle.restartScan() } })
            let number = handle.addScan(ScanConsumer(filter, buffer))
            return ElementReader(buffer, filter.context, onDeinit: DeinitAction { handle.removeScan(number) })
        }
    }

    /// Scans for the first device that matches.
    ///
    /// ```swift
    /// let lamp = try await central.first(within: .seconds(10)) { $0.advertisement.localName == "Lamp" }.peripheral
    /// ```
    ///
    /// - Parameters:
    ///   - services: The services of which a device must advertise one; empty for all devices.
    ///   - allowDuplicates: Whether to examine every report, as for a signal strength, not only those with
    ///     changes.
    ///   - limit: The duration of the search.
    ///   - isMatch: Whether a device is the wanted one.
    /// - Throws: ``BluetoothError`` with ``BluetoothError/Reason/timedOut(_:)`` if none matched in time, or the reason
    ///   for which the adapter is unavailable.
    public func first(
        for services: [CBUUID] = [], allowDuplicates: Bool = false, within limit: Duration,
        where isMatch: @escaping @Sendable (DiscoveredPeripheral) -> Bool = { _ in true }
    ) async throws -> DiscoveredPeripheral {
        let devices = scan(for: services, allowDuplicates: allowDuplicates)
        return try await withTimeout(limit, clock: handle.clock) {
            for try await device in devices where isMatch(device) { return device }
            // A scan ends by throwing, or is cancelled.
            throw CancellationError()
        }
    }
}

extension BufferingPolicy {
    /// Returns the policy of a scan: without duplicates the newest report is dropped in place of the oldest, since its
    /// device is reported again.
    fileprivate func forScan(allowsDuplicates: Bool) -> BufferingPolicy {
        !allowsDuplicates && overflow == .dropOldest ? .oldest(limit) : self
    }
}

struct ScanFilter: Hashable, Sendable {
    /// The services to scan for; all devices if empty.
    var services: Set<CBUUID>
    var solicited: Set<CBUUID>
    var allowsDuplicates: Bool

    /// Returns the one scan that serves all filters; nil without filters.
    static func merged(_ filters: some Sequence<ScanFilter>) -> ScanFilter? {
        var merged: ScanFilter?
        for filter in filters {
            guard var all = merged else {
                merged = filter
                continue
            }
            let isWide = all.isOpen || filter.isOpen
            all.services = isWide ? [] : all.services.union(filter.services)
            all.solicited.formUnion(filter.solicited)
            all.allowsDuplicates = all.allowsDuplicates || filter.allowsDuplicates
            merged = all
        }
        return merged
    }

    private var isOpen: Bool { services.isEmpty && solicited.isEmpty }

    func matches(_ data: AdvertisedData) -> Bool {
        isOpen || !services.isDisjoint(with: data.serviceUUIDs)
            || !services.isDisjoint(with: data.overflowServiceUUIDs)
            || !solicited.isDisjoint(with: data.solicitedServiceUUIDs)
    }

    /// The services, for errors.
    var context: BluetoothError.Context {
        let all = services.union(solicited)
        return BluetoothError.Context(
            .scan, path: all.isEmpty ? nil : Self.sorted(all).map(\.uuidString).joined(separator: ", "))
    }

    /// The services as CoreBluetooth expects them.
    var uuids: [CBUUID]? { services.isEmpty ? nil : Self.sorted(services) }

    /// The options as CoreBluetooth expects them.
    var options: [String: Any] {
        var options: [String: Any] = [CBCentralManagerScanOptionAllowDuplicatesKey: allowsDuplicates]
        if !solicited.isEmpty {
            options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = Self.sorted(solicited)
        }
        return options
    }

    /// Returns UUIDs in an order that is the same in each run.
    private static func sorted(_ uuids: Set<CBUUID>) -> [CBUUID] { uuids.sorted { $0.uuidString < $1.uuidString } }
}

struct ScanConsumer {
    /// The number of devices that a consumer remembers; the next report of a forgotten device is new.
    static let deviceLimit = 4_096

    let filter: ScanFilter
    let buffer: ElementBuffer<DiscoveredPeripheral>
    /// The last report of each device, and the devices in the order of their first reports.
    private var reported: [UUID: AdvertisedData] = [:]
    private var order: Deque<UUID> = []

    init(_ filter: ScanFilter, _ buffer: ElementBuffer<DiscoveredPeripheral>) {
        self.filter = filter
        self.buffer = buffer
    }

    /// Returns the delivery of a report, to be made outside the lock; nil if this consumer does not receive it.
    mutating func accept(_ data: AdvertisedData, of device: UUID) -> Delivery? {
        guard filter.matches(data) else { return nil }
        let delivery = Delivery(buffer: buffer, allowsDuplicates: filter.allowsDuplicates)
        if filter.allowsDuplicates { return delivery }
        if let old = reported.updateValue(data, forKey: device) { return old == data ? nil : delivery }
        order.append(device)
        if order.count > Self.deviceLimit, let oldest = order.popFirst() { reported[oldest] = nil }
        return delivery
    }

    /// Forgets a report that was not delivered: the next one of the device is new.
    mutating func forget(_ device: UUID) {
        guard reported.removeValue(forKey: device) != nil else { return }
        order.removeAll { $0 == device }
    }

    struct Delivery {
        let buffer: ElementBuffer<DiscoveredPeripheral>
        let allowsDuplicates: Bool

        /// Delivers a report; without duplicates it replaces a waiting one of the same device.
        ///
        /// - Returns: Whether the buffer had room.
        func deliver(_ found: DiscoveredPeripheral) -> Bool {
            allowsDuplicates ? buffer.append(found) : buffer.append(found) { $0.peripheral == found.peripheral }
        }
    }
}

/// The contents of a device's advertisements.
public struct AdvertisedData: Hashable, Sendable {
    /// The name in the advertisement, whole or shortened.
    public var localName: String?
    /// The services that the device offers.
    public var serviceUUIDs: [CBUUID] = []
    /// The services in the overflow area.
    public var overflowServiceUUIDs: [CBUUID] = []
    /// The services that the device solicits.
    public var solicitedServiceUUIDs: [CBUUID] = []
    /// The data of each service.
    public var serviceData: [CBUUID: Data] = [:]
    /// The company's identifier, least significant byte first, and its data.
    public var manufacturerData: Data?
    /// The transmit power in dBm.
    public var txPowerLevel: Int?
    /// Whether the device accepts connections; nil if unknown.
    public var isConnectable: Bool?

    /// Creates empty data.
    public init() {}

    package init(_ dictionary: [String: Any]) {
        localName = dictionary[CBAdvertisementDataLocalNameKey] as? String
        serviceUUIDs = dictionary[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] ?? []
        overflowServiceUUIDs = dictionary[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID] ?? []
        solicitedServiceUUIDs = dictionary[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] ?? []
        serviceData = dictionary[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:]
        manufacturerData = dictionary[CBAdvertisementDataManufacturerDataKey] as? Data
        txPowerLevel = (dictionary[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue
        isConnectable = (dictionary[CBAdvertisementDataIsConnectable] as? NSNumber)?.boolValue
    }
}

/// A device that a scan found.
public struct DiscoveredPeripheral: Sendable {
    /// The device.
    public let peripheral: Peripheral
    /// The contents of its advertisements.
    public let advertisement: AdvertisedData
    /// The signal strength in dBm; nil if unknown.
    public let rssi: Int?
}
