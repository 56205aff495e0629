/// Passes the reports of one scan that add something, or all if duplicates are wanted.
///
/// A report adds something when it is the first of its peer since the scan began, or when the merged advertisement
/// grew or changed. Pure; both backends use it.
///
/// The peers that it remembers are limited: beyond that, the one that was heard longest ago is forgotten, and reported
/// anew when it is heard again.
package struct ScanReportFilter: Sendable {
    package let parameters: ScanParameters
    private var known: LRUCache<PeerID, Advertisement>

    /// A filter for a scan that begins now.
    ///
    /// - Parameters:
    ///   - parameters: What the scan looks for.
    ///   - limit: How many peers are remembered.
    package init(_ parameters: ScanParameters, remembering limit: Int = RoleOptions.defaultRememberedPeers) {
        self.parameters = parameters
        known = LRUCache(limit: limit)
    }

    package var count: Int { known.count }

    /// Handles one report with the content of a packet.
    ///
    /// - Returns: The report to deliver, with all that is known of the advertisement, or nil.
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

    /// Forgets a peer, so that it is reported anew.
    package mutating func forget(_ peer: PeerID) {
        known.remove(peer)
    }
}
