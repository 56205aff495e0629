import CoreBluetooth

/// A characteristic of a service.
open class CBMCharacteristic: CBMAttribute,
    // Invariant: as of the superclass.
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

    /// The service, if it is alive; nil for a characteristic that is in none.
    open var service: CBMService? { optionalService }

    /// The service, if it is alive.
    var optionalService: CBMService? { fields.withLock { $0.service } }

    /// The properties of the characteristic.
    open var properties: CBMCharacteristicProperties { initialProperties }

    /// The value that was last read, notified or indicated; of a server's object, the value that was last simulated.
    open internal(set) var value: Data? {
        get { fields.withLock { $0.value } }
        set { fields.withLock { $0.value = newValue } }
    }

    /// The descriptors found so far; nil before any discovery.
    open var descriptors: [CBMDescriptor]? { fields.withLock { $0.descriptors } }

    /// Whether notifications or indications are on for this manager; of a server's object, whether anyone subscribes.
    open internal(set) var isNotifying: Bool {
        get { fields.withLock { $0.isNotifying } }
        set { fields.withLock { $0.isNotifying = newValue } }
    }

    /// Makes a service the one that this characteristic is in.
    func attach(to service: CBMService?) { fields.withLock { $0.service = service } }
}

/// A characteristic of a peripheral's spec: the server's object.
///
/// Its reads and writes go to the delegate of the spec. Two objects are never equal.
open class CBMCharacteristicMock: CBMCharacteristic,
    // Invariant: as of the superclass.
    @unchecked Sendable
{
    /// Describes a characteristic.
    ///
    /// - Parameters:
    ///   - uuid: Its type.
    ///   - properties: The properties that clients discover.
    ///   - descriptors: Its descriptors; Client Characteristic Configuration is shown to clients where it is among them.
    public init(type uuid: CBMUUID, properties: CBMCharacteristicProperties, descriptors: CBMDescriptorMock...) {
        super.init(uuid: uuid, properties: properties)
        self.descriptors = descriptors
    }

    /// The descriptors of the server, in the order of discovery.
    ///
    /// Changing them changes what is simulated from the next `simulatePeripherals` on.
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
