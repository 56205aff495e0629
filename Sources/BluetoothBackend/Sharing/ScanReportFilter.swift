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
        var addsSomething = true
        if let index = known.index(forKey: report.peer) {
            addsSomething = known.values[index].merge(report.advertisement)
        } else {
            known[report.peer] = report.advertisement
        }
        guard addsSomething || parameters.allowDuplicates, let merged = known[report.peer] else { return nil }
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
