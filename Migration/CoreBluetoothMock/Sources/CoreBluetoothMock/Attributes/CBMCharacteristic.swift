import CoreBluetooth

/// A characteristic of a service.
open class CBMCharacteristic: CBMAttribute,
    // Invariant: that of the superclass.
    @unchecked Sendable
{
    struct Fields {
        weak var service: CBMService?
        var value: Data?
        var descriptors: [CBMDescriptor]?
        var isNotifying = false
    }

    let fields = Protected(Fields())
    private let initialProperties: CBMCharacteristicProperties

    init(uuid: CBMUUID, properties: CBMCharacteristicProperties, identifier: UUID = UUID()) {
        initialProperties = properties
        super.init(uuid: uuid, identifier: identifier)
    }

    /// The service, if it is alive; nil for a characteristic that belongs to none.
    open var service: CBMService? { optionalService }

    /// The service, if it is alive.
    var optionalService: CBMService? { fields.withLock { $0.service } }

    /// The properties of the characteristic.
    open var properties: CBMCharacteristicProperties { initialProperties }

    /// The value that was last read, notified or indicated; for a server's object, the value that was last simulated.
    open internal(set) var value: Data? {
        get { fields.withLock { $0.value } }
        set { fields.withLock { $0.value = newValue } }
    }

    /// The descriptors found so far; nil before any discovery.
    open var descriptors: [CBMDescriptor]? { fields.withLock { $0.descriptors } }

    /// Whether notifications or indications are on for this manager; for a server's object, whether any central
    /// subscribes.
    open internal(set) var isNotifying: Bool {
        get { fields.withLock { $0.isNotifying } }
        set { fields.withLock { $0.isNotifying = newValue } }
    }

    /// Sets the service to which this characteristic belongs.
    func attach(to service: CBMService?) { fields.withLock { $0.service = service } }
}

/// A characteristic of a peripheral's spec, which is the server's object.
///
/// Its reads and writes go to the delegate of the spec. Two objects are never equal.
open class CBMCharacteristicMock: CBMCharacteristic,
    // Invariant: that of the superclass.
    @unchecked Sendable
{
    /// Describes a characteristic.
    ///
    /// - Parameters:
    ///   - uuid: The characteristic's type.
    ///   - properties: The properties that clients discover.
    ///   - descriptors: The descriptors; clients discover Client Characteristic Configuration if it is among them.
    public init(type uuid: CBMUUID, properties: CBMCharacteristicProperties, descriptors: CBMDescriptorMock...) {
        super.init(uuid: uuid, properties: properties)
        self.descriptors = descriptors
    }

    /// The descriptors of the server, in the order of discovery.
    ///
    /// Changes affect the simulation from the next `simulatePeripherals` on.
    open override var descriptors: [CBMDescriptor]? {
        get { super.descriptors }
        set {
            fields.withLock { $0.descriptors = newValue }
            for descriptor in newValue ?? [] { descriptor.attach(to: self) }
        }
    }

    /// The descriptors of the server.
    var mocks: [CBMDescriptorMock] { (descriptors ?? []).compactMap { $0 as? CBMDescriptorMock } }
}
