import BluetoothBackend
import BluetoothSupport

/// The scans of a host's managers.
struct HostScanning: Sendable {
    struct Scanner: Sendable {
        let manager: Ref<Manager>
        var filter: ScanReportFilter
        /// The reports of each set's present data, so that a repetition need not be merged again.
        var reports: [Int: Report] = [:]
    }

    /// The result of a scan for the data of one advertising set.
    struct Report: Sendable {
        let generation: UInt32
        /// The reported discovery; nil if the scan does not want it.
        var discovery: Discovery?
    }

    var scanners: [Scanner] = []
    /// The scans that have started but receive no packets yet.
    private var pending: [Ref<Manager>: UInt64] = [:]
    /// Incremented when the set of scans changes.
    private(set) var epoch: UInt64 = 1
    /// Whether a scan wants every packet.
    private(set) var wantsDuplicates = false

    mutating func add(_ manager: Ref<Manager>, _ filter: ScanReportFilter) {
        scanners.append(Scanner(manager: manager, filter: filter))
        changed()
    }

    /// Registers a scan that receives packets later, in place of the manager's earlier one.
    mutating func begin(_ number: UInt64, of manager: Ref<Manager>) {
        remove(manager)
        pending[manager] = number
    }

    /// Ends the waiting for a scan; returns false if it was stopped or replaced.
    mutating func takePending(_ number: UInt64, of manager: Ref<Manager>) -> Bool {
        guard pending[manager] == number else { return false }
        pending[manager] = nil
        return true
    }

    mutating func remove(_ manager: Ref<Manager>) {
        pending[manager] = nil
        scanners.removeAll { $0.manager == manager }
        changed()
    }

    mutating func removeAll() {
        (pending, scanners) = ([:], [])
        changed()
    }

    /// Forgets a peer, so its next packet counts as its first.
    mutating func forget(_ peer: PeerID) {
        for index in scanners.indices {
            scanners[index].filter.forget(peer)
            scanners[index].reports = [:]
        }
        changed()
    }

    /// Changes the name under which further packets of a peer are reported.
    mutating func rename(_ peer: PeerID, to name: String) {
        for index in scanners.indices {
            for (key, report) in scanners[index].reports where report.discovery?.peer == peer {
                scanners[index].reports[key]?.discovery?.name = name
            }
        }
    }

    private mutating func changed() {
        epoch += 1
        wantsDuplicates = scanners.contains { $0.filter.parameters.allowDuplicates }
    }
}
