public import CoreBluetooth

/// What ``PeripheralServer/run()`` publishes and advertises.
public struct ServedOffer: Sendable {
    /// The services.
    public var services: [ServedService]
    /// The name to advertise, shortened where there is no room; nil for none.
    public var name: String?
    /// The services to advertise.
    public var advertisedServices: [CBUUID]

    /// Describes an offer.
    ///
    /// - Parameters:
    ///   - services: The services.
    ///   - name: The name to advertise; nil for none.
    ///   - advertisedServices: The services to advertise; nil for those of `services`.
    public init(services: [ServedService], name: String? = nil, advertisedServices: [CBUUID]? = nil) {
        self.services = services
        self.name = name
        self.advertisedServices = advertisedServices ?? services.map(\.uuid)
    }
}
