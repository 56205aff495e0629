/// The scan of a host.
struct Scan: Sendable {
    /// The number of advertisers that the filter of duplicates remembers; with one more it begins anew.
    static let maximumDuplicates = 1024

    var isEnabled = false
    var isActive = false
    var usesAcceptList = false
    var ownAddressType: UInt8 = 0
    var filtersDuplicates = false
    var duration: Duration?
    /// Whether it goes on, with a new filter of duplicates, when its duration has passed.
    var isPeriodic = false
    /// The scan of the Link Layer, which may serve a connect.
    var current: LinkLayerCommand.ScanSettings?
    /// The last reports.
    private var reported: [Advertiser: AdvertisingReport] = [:]

    private struct Advertiser: Hashable, Sendable {
        var address: HCIAddress
        var isScanResponse: Bool
        var setID: UInt8?
    }

    /// Whether the host gets a report.
    ///
    /// A duplicate has the data and the signal strength of the advertiser's last report, as in many controllers. The
    /// specification would drop each further report of an address (Vol 6, Part B, 4.4.3.5), so that a host would get no
    /// signal strength and no new data until it begins another scan; Linux knows both kinds (`hci_sync.c`).
    mutating func reports(_ report: AdvertisingReport) -> Bool {
        guard filtersDuplicates else { return true }
        let advertiser = Advertiser(
            address: report.address, isScanResponse: report.isScanResponse, setID: report.setID)
        let last = reported[advertiser]
        if last == nil, reported.count >= Self.maximumDuplicates { reported = [:] }
        reported[advertiser] = report
        return last != report
    }

    mutating func forgetReports() { reported = [:] }
}

/// Source: Core Specification, Vol 4, Part E, 7.8.10, 7.8.11, 7.8.64 and 7.8.65.
extension Controller {
    mutating func setScanParameters(_ cursor: inout ByteCursor) throws(HCIStatus) {
        guard !state.scan.isEnabled else { throw .commandDisallowed }
        var scan = Scan()
        scan.isActive = try cursor.readFlag()
        try cursor.skipScanTiming(0x0004...0x4000)
        scan.ownAddressType = try cursor.read(in: 0...3)
        scan.usesAcceptList = try cursor.readScanFilterPolicy()
        replaceScan(scan)
    }

    mutating func setScanEnable(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let isEnabled = try cursor.readFlag()
        let filtersDuplicates = try cursor.readFlag()
        try enableScan(isEnabled, filtersDuplicates: filtersDuplicates, duration: nil, isPeriodic: false)
    }

    mutating func setExtendedScanParameters(_ cursor: inout ByteCursor) throws(HCIStatus) {
        guard !state.scan.isEnabled else { throw .commandDisallowed }
        var scan = Scan()
        scan.ownAddressType = try cursor.read(in: 0...3)
        scan.usesAcceptList = try cursor.readScanFilterPolicy()
        // 1M and coded.
        let phys = try cursor.read(UInt8.self)
        guard phys != 0, phys & ~0b101 == 0, cursor.count == 5 * phys.nonzeroBitCount else {
            throw .invalidCommandParameters
        }
        for _ in 0..<phys.nonzeroBitCount {
            if try cursor.readFlag() { scan.isActive = true }
            try cursor.skipScanTiming(0x0004...0xFFFF)
        }
        replaceScan(scan)
    }

    mutating func setExtendedScanEnable(_ cursor: inout ByteCursor) throws(HCIStatus) {
        let isEnabled = try cursor.readFlag()
        let filter = try cursor.read(in: UInt8(0)...2)
        let duration = try cursor.read(UInt16.self)
        let period = try cursor.read(UInt16.self)
        if isEnabled {
            // The period counts 1.28 s and is longer than the duration, which counts 10 ms.
            let isPeriodic = duration != 0 && period != 0
            guard filter < 2 || isPeriodic, !isPeriodic || 128 * Int(period) > Int(duration) else {
                throw .invalidCommandParameters
            }
        }
        try enableScan(
            isEnabled, filtersDuplicates: filter > 0, duration: duration == 0 ? nil : .milliseconds(10) * Int(duration),
            isPeriodic: period != 0)
    }

    /// Replaces the parameters; the Link Layer does as before.
    private mutating func replaceScan(_ scan: Scan) {
        let current = state.scan.current
        state.scan = scan
        state.scan.current = current
    }

    private mutating func enableScan(
        _ isEnabled: Bool, filtersDuplicates: Bool, duration: Duration?, isPeriodic: Bool
    ) throws(HCIStatus) {
        if isEnabled {
            _ = try ownAddress(type: state.scan.ownAddressType, random: state.randomAddress, peer: nil)
            (state.scan.filtersDuplicates, state.scan.duration) = (filtersDuplicates, duration)
            state.scan.isPeriodic = isPeriodic
            state.scan.forgetReports()
        }
        state.scan.isEnabled = isEnabled
        updateScan()
    }

    /// Lets the Link Layer scan if the host or a connect to a private address needs it.
    mutating func updateScan(restarts: Bool = false) {
        var settings: LinkLayerCommand.ScanSettings?
        if state.scan.isEnabled {
            settings = LinkLayerCommand.ScanSettings(
                isActive: state.scan.isActive, includesExtended: state.family == .extended,
                duration: state.scan.duration)
        } else if state.initiator?.isSearching == true {
            settings = LinkLayerCommand.ScanSettings(isActive: false, includesExtended: state.family == .extended)
        }
        guard restarts || settings != state.scan.current else { return }
        state.scan.current = settings
        output.commands.append(.scan(settings))
    }

    /// Handles the end of the scan's duration.
    mutating func endScan() {
        guard state.scan.isEnabled, state.scan.duration != nil else { return }
        state.scan.forgetReports()
        if !state.scan.isPeriodic {
            state.scan.isEnabled = false
            state.scan.current = nil
            send(.scanTimeout, [])
            return updateScan()
        }
        updateScan(restarts: true)
    }

    /// Handles an advertising packet.
    mutating func hear(_ report: AdvertisingReport) {
        var report = report
        let identity = state.resolvingList.identity(of: report.address, using: configuration.cipher)
        guard identity != nil || !state.resolvingList.ignores(report.address) else { return }
        let address = report.address
        report.address = identity ?? address
        if identity != nil, report.isConnectable { initiate(to: report.address, heardAs: address) }
        let isExtended = state.family == .extended
        guard state.scan.isEnabled, isExtended || report.setID == nil else { return }
        guard !state.scan.usesAcceptList || state.acceptList.devices.contains(report.address) else { return }
        guard state.scan.reports(report) else { return }
        let isLegacy = report.setID == nil
        report.data.truncate(to: isLegacy ? AdvertisingSet.maximumLegacyLength : AdvertisingSet.maximumLength)
        let isIdentity = identity != nil
        if !isExtended {
            if state.eventMask.allows(.advertisingReport) {
                output.packets.append(.advertisingReport(report, isIdentity: isIdentity))
            }
        } else if state.eventMask.allows(.extendedAdvertisingReport) {
            output.packets += HCIPacket.extendedAdvertisingReports(report, isLegacy: isLegacy, isIdentity: isIdentity)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func truncate(to length: Int) {
        if count > length { removeLast(count - length) }
    }
}
