/// What the system kept of an earlier process's ``PeripheralServer``.
public struct RestoredServer: Sendable {
    /// The services that are still published.
    public let services: [ServiceID]
    /// Those of them for which the new server has no handlers: requests are refused until they are removed.
    public let unanswered: [ServiceID]
    /// What is still advertised; nil where nothing is.
    public let advertisement: AdvertisedData?
}
