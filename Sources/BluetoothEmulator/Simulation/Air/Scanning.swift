import BluetoothBackend

/// The scans of a host's managers.
struct HostScanning: Sendable {
    /// One manager's scan.
    struct Scanner: Sendable {
        let manager: Ref<Manager>
        var filter: ScanReportFilter
        /// The reports of each set's present data, so that a repetition need not be merged again; nil if it is not
        /// wanted.
        var reports: [Int: Report] = [:]
    }

    /// The result of a scan for the data of one advertising set.
    struct Report: Sendable {
        let generation: UInt32
        /// The reported discovery; nil if it is not wanted.
        let discovery: Discovery?
    }

    var scanners: [Scanner] = []
    /// Grows when the set of scans changes.
    private(set) var epoch: UInt64 = 1
    /// Whether a scan wants every packet.
    private(set) var wantsDuplicates = false

    mutating func add(_ manager: Ref<Manager>, _ filter: ScanReportFilter) {
        scanners.append(Scanner(manager: manager, filter: filter))
        changed()
    }

    mutating func remove(_ manager: Ref<Manager>) {
        scanners.removeAll { $0.manager == manager }
        changed()
    }

    mutating func removeAll() {
        scanners = []
        changed()
    }

    /// The next packet of a peer is its first again.
    mutating func forget(_ peer: PeerID) {
        for index in scanners.indices {
            scanners[index].filter.forget(peer)
            scanners[index].reports = [:]
        }
        changed()
    }

    private mutating func changed() {
        epoch += 1
        wantsDuplicates = scanners.contains { $0.filter.parameters.allowDuplicates }
    }
}
