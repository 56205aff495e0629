/// The state that the system preserved for the ``PeripheralServer`` of an earlier process.
public struct RestoredServer: Sendable {
    /// The services that are still published.
    public let services: [ServiceID]
    /// Those of them for which the new server has no handlers: requests are refused until they are removed.
    public let unanswered: [ServiceID]
    /// The advertisement that is still running; nil if there is none.
    public let advertisement: AdvertisedData?
}
