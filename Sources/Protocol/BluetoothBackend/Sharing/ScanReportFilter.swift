/// Passes the reports of one scan that add information, or all if duplicates are wanted.
///
/// A report adds information if it is the first of its peer since the scan began, or if the merged advertisement grew
/// or changed. Pure; both backends use it.
///
/// The number of remembered peers is limited: the filter drops the peer that was heard the longest time ago, and
/// reports it again when it is heard again.
package struct ScanReportFilter: Sendable {
    package let parameters: ScanParameters
    private var known: LRUCache<PeerID, Advertisement>

    /// Creates a filter for a scan that begins now.
    ///
    /// - Parameters:
    ///   - parameters: The parameters of the scan.
    ///   - limit: The number of peers that are remembered.
    package init(_ parameters: ScanParameters, remembering limit: Int = RoleOptions.defaultRememberedPeers) {
        self.parameters = parameters
        known = LRUCache(limit: limit)
    }

    package var count: Int { known.count }

    /// Merges one report with the content of a packet.
    ///
    /// - Returns: The report to deliver, with the merged advertisement; nil if it adds no information.
    package mutating func admit(_ report: Discovery) -> Discovery? {
        let wantsAll = parameters.allowDuplicates
        var advertisement = report.advertisement
        switch known.use(report.peer, { $0.merge(report.advertisement) || wantsAll ? $0 : nil }) {
        case .some(let merged?): advertisement = merged
        case .some(nil): return nil
        case nil: known.insert(advertisement, for: report.peer)
        }
        guard parameters.matches(advertisement) else { return nil }
        var complete = report
        complete.advertisement = advertisement
        return complete
    }

    /// Removes a peer, so that it is reported again.
    package mutating func forget(_ peer: PeerID) {
        known.remove(peer)
    }
}
