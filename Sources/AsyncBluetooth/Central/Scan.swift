public import CoreBluetooth
import DequeModule

/// Scanning.
extension Central {
    /// Looks for devices.
    ///
    /// The scan begins with the loop and ends with it. Several at once share the radio, and each gets its own.
    ///
    /// A consumer that is late gets the newest report of each device, unless it allows duplicates; devices for which there
    /// was no room come once it has read the others. Without duplicates the last 4,096 devices are remembered.
    ///
    /// - Parameters:
    ///   - services: Only devices that advertise one of these; all if empty.
    ///   - soliciting: Also devices that look for one of these.
    ///   - allowDuplicates: Whether to deliver every report, and not only those that are new or changed.
    ///   - buffering: How many reports are kept for a slow consumer; nil for the policy of the settings.
    /// - Returns: A sequence that throws ``BluetoothError`` when the adapter cannot be used any more.
    public func scan(
        for services: [CBUUID] = [], soliciting: [CBUUID] = [], allowDuplicates: Bool = false,
        buffering: BufferingPolicy? = nil
    ) -> ValueSequence<DiscoveredPeripheral> {
        let radio = radio
        let filter = ScanFilter(
            services: Set(services), solicited: Set(soliciting), allowsDuplicates: allowDuplicates)
        let policy = (buffering ?? radio.core.settings.buffering).forScan(allowsDuplicates: allowDuplicates)
        return ValueSequence {
            let buffer = ElementBuffer<DiscoveredPeripheral>(
                policy, filter.context, radio.core.log,
                // The radio reports devices for which there was no room again, once it begins anew.
                onGapRead: { if !allowDuplicates { radio.restartScan() } })
            let number = radio.addScan(filter, buffer)
            return ElementReader(buffer, filter.context, onDeinit: DeinitAction { radio.removeScan(number) })
        }
    }

    /// Scans for the first device that matches.
    ///
    /// ```swift
    /// let lamp = try await central.first(within: .seconds(10)) { $0.advertisement.localName == "Lamp" }.peripheral
    /// ```
    ///
    /// - Parameters:
    ///   - services: Only devices that advertise one of these; all if empty.
    ///   - allowDuplicates: Whether to ask of each sighting, as for a signal strength; not only of those that tell
    ///     something new.
    ///   - limit: How long to look for it.
    ///   - isMatch: Whether a device is the one that is looked for.
    /// - Throws: ``BluetoothError`` with ``BluetoothError/Reason/timedOut(_:)`` where none matched in time, or why the
    ///   adapter cannot be used.
    public func first(
        for services: [CBUUID] = [], allowDuplicates: Bool = false, within limit: Duration,
        where isMatch: @escaping @Sendable (DiscoveredPeripheral) -> Bool = { _ in true }
    ) async throws -> DiscoveredPeripheral {
        let devices = scan(for: services, allowDuplicates: allowDuplicates)
        return try await withTimeout(limit, clock: radio.clock) {
            for try await device in devices where isMatch(device) { return device }
            // A scan ends by throwing, or is cancelled.
            throw CancellationError()
        }
    }
}

extension BufferingPolicy {
    /// The policy for a scan: without duplicates it is not the oldest report that is dropped but the newest, since its
    /// device is reported again.
    fileprivate func forScan(allowsDuplicates: Bool) -> BufferingPolicy {
        !allowsDuplicates && overflow == .dropOldest ? .oldest(limit) : self
    }
}

/// What one consumer of a scan wants to hear of.
struct ScanFilter: Hashable, Sendable {
    /// All devices if empty.
    var services: Set<CBUUID>
    var solicited: Set<CBUUID>
    var allowsDuplicates: Bool

    /// The one scan that serves all; nil if there are none.
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

    /// Whether every device matches.
    private var isOpen: Bool { services.isEmpty && solicited.isEmpty }

    /// Whether a device is one of those that are looked for.
    func matches(_ data: AdvertisedData) -> Bool {
        isOpen || !services.isDisjoint(with: data.serviceUUIDs)
            || !services.isDisjoint(with: data.overflowServiceUUIDs)
            || !solicited.isDisjoint(with: data.solicitedServiceUUIDs)
    }

    /// What errors say of the scan.
    var context: BluetoothError.Context {
        let all = services.union(solicited)
        return BluetoothError.Context(
            .scan, path: all.isEmpty ? nil : Self.sorted(all).map(\.uuidString).joined(separator: ", "))
    }

    /// As CoreBluetooth takes them.
    var uuids: [CBUUID]? { services.isEmpty ? nil : Self.sorted(services) }

    /// As CoreBluetooth takes them.
    var options: [String: Any] {
        var options: [String: Any] = [CBCentralManagerScanOptionAllowDuplicatesKey: allowsDuplicates]
        if !solicited.isEmpty {
            options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = Self.sorted(solicited)
        }
        return options
    }

    /// In an order that does not change from run to run.
    private static func sorted(_ uuids: Set<CBUUID>) -> [CBUUID] { uuids.sorted { $0.uuidString < $1.uuidString } }
}

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

/// The contents of a device's advertisements.
public struct AdvertisedData: Hashable, Sendable {
    /// The name in the advertisement, whole or shortened.
    public var localName: String?
    /// The services that the device offers.
    public var serviceUUIDs: [CBUUID] = []
    /// The services in the overflow area, for which the advertisement had no room.
    public var overflowServiceUUIDs: [CBUUID] = []
    /// The services that the device solicits.
    public var solicitedServiceUUIDs: [CBUUID] = []
    /// The data of each service.
    public var serviceData: [CBUUID: Data] = [:]
    /// The company's identifier, least significant byte first, and its data.
    public var manufacturerData: Data?
    /// The transmit power in dBm.
    public var txPowerLevel: Int?
    /// Whether the device accepts connections; nil where that is not known.
    public var isConnectable: Bool?

    /// Makes empty data.
    public init() {}

    /// Reads CoreBluetooth's dictionary.
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
    /// The signal strength in dBm; nil where that is not known.
    public let rssi: Int?
}
