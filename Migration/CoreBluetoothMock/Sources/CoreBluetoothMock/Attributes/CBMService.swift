import CoreBluetooth

/// A service of a peripheral.
open class CBMService: CBMAttribute,
    // Invariant: that of the superclass.
    @unchecked Sendable
{
    struct Fields {
        weak var peripheral: (any CBMPeripheral)?
        var includedServices: [CBMService]?
        var characteristics: [CBMCharacteristic]?
    }

    let fields = Protected(Fields())

    /// Whether it is a primary service.
    public let isPrimary: Bool

    init(uuid: CBMUUID, isPrimary: Bool, identifier: UUID = UUID()) {
        self.isPrimary = isPrimary
        super.init(uuid: uuid, identifier: identifier)
    }

    /// The peripheral, if it is alive; nil for a service of a server.
    open var peripheral: (any CBMPeripheral)? { fields.withLock { $0.peripheral } }

    /// The included services found so far; nil before any discovery.
    open var includedServices: [CBMService]? { fields.withLock { $0.includedServices } }

    /// The characteristics found so far; nil before any discovery.
    open var characteristics: [CBMCharacteristic]? { fields.withLock { $0.characteristics } }
}

/// A service of a peripheral's spec, which is the server's object.
///
/// Usually a constant; one object may be in several specs. Two objects are never equal.
open class CBMServiceMock: CBMService,
    // Invariant: that of the superclass.
    @unchecked Sendable
{
    /// Describes a service.
    ///
    /// - Parameters:
    ///   - uuid: The service's type.
    ///   - isPrimary: Whether it is a primary service.
    ///   - includedServices: The included services.
    ///   - characteristics: The characteristics, in the order of discovery.
    public convenience init(
        type uuid: CBMUUID, primary isPrimary: Bool, includedServices: CBMServiceMock...,
        characteristics: CBMCharacteristicMock...
    ) {
        self.init(
            type: uuid, primary: isPrimary, includedServices: includedServices, characteristics: characteristics)
    }

    /// Describes a service.
    ///
    /// - Parameters:
    ///   - uuid: The service's type.
    ///   - isPrimary: Whether it is a primary service.
    ///   - includedServices: The included services.
    ///   - characteristics: The characteristics, in the order of discovery.
    public init(
        type uuid: CBMUUID, primary isPrimary: Bool, includedServices: [CBMServiceMock]? = nil,
        characteristics: [CBMCharacteristicMock]? = nil
    ) {
        super.init(uuid: uuid, isPrimary: isPrimary)
        fields.withLock { ($0.includedServices, $0.characteristics) = (includedServices, characteristics) }
        for characteristic in characteristics ?? [] { characteristic.attach(to: self) }
    }

    /// The characteristics of the server.
    var mocks: [CBMCharacteristicMock] { (characteristics ?? []).compactMap { $0 as? CBMCharacteristicMock } }

    /// The included services of the server.
    var includedMocks: [CBMServiceMock] { (includedServices ?? []).compactMap { $0 as? CBMServiceMock } }
}

extension [CBMServiceMock] {
    /// Returns the server's object of a service that a client discovered, including included services; nil for a
    /// service of another server.
    func find(mockOf service: CBMService) -> CBMServiceMock? {
        lazy.compactMap { $0.identifier == service.identifier ? $0 : $0.includedMocks.find(mockOf: service) }.first
    }

    /// Returns the server's object of a characteristic that a client discovered.
    func find(mockOf characteristic: CBMCharacteristic) -> CBMCharacteristicMock? {
        guard let service = characteristic.optionalService.flatMap(find(mockOf:)) else { return nil }
        return service.mocks.first { $0.identifier == characteristic.identifier }
    }

    /// Returns the server's object of a descriptor that a client discovered.
    func find(mockOf descriptor: CBMDescriptor) -> CBMDescriptorMock? {
        guard let characteristic = descriptor.optionalCharacteristic.flatMap(find(mockOf:)) else { return nil }
        return characteristic.mocks.first { $0.identifier == descriptor.identifier }
    }
}
