/// Passes the reports of one scan that add something, or all if duplicates are wanted.
///
/// A report adds something when it is the first of its peer since the scan began, or when the merged advertisement
/// grew or changed. Pure; both backends use it.
public struct ScanReportFilter: Sendable {
    /// What the scan looks for.
    public let parameters: ScanParameters
    private var known: [PeerID: Advertisement] = [:]

    /// A filter for a scan that begins now.
    public init(_ parameters: ScanParameters) {
        self.parameters = parameters
    }

    /// Takes one report in, with what the packet said.
    ///
    /// - Returns: The report to deliver, with all that is known of the advertisement, or nil.
    public mutating func admit(_ report: Discovery) -> Discovery? {
        let old = known[report.peer]
        var merged = old ?? Advertisement()
        merged.merge(report.advertisement)
        guard merged != old || parameters.allowDuplicates else { return nil }
        known[report.peer] = merged
        guard parameters.matches(merged) else { return nil }
        var complete = report
        complete.advertisement = merged
        return complete
    }

    /// Forgets a peer, so that it is reported anew.
    public mutating func forget(_ peer: PeerID) {
        known[peer] = nil
    }
}
