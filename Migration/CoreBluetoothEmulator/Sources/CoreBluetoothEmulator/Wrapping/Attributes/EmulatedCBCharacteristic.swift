public import CoreBluetooth

// Invariant: `fields` are accessed under their lock; the rest is constant.
/// A characteristic that a central discovered.
///
/// Readable from any thread; changes on the queue of the central manager.
public class EmulatedCBCharacteristic: NSObject, @unchecked Sendable {
    private struct Fields {
        weak var service: EmulatedCBService?
        var value: Data?
        var descriptors: [EmulatedCBDescriptor]?
        var isNotifying = false
    }

    /// The characteristic's type.
    public let uuid: CBUUID
    /// The operations that the characteristic supports.
    public let properties: CBCharacteristicProperties
    /// The discovered characteristic; nil for a characteristic of a peripheral manager.
    let core: CBCharacteristic?
    private let fields: Guarded<Fields>

    /// Creates a characteristic of a peripheral manager.
    init(uuid: CBUUID, properties: CBCharacteristicProperties, value: Data?) {
        self.uuid = uuid
        self.properties = properties
        core = nil
        fields = Guarded(Fields(value: value))
        super.init()
    }

    /// Creates a discovered characteristic.
    init(_ core: CBCharacteristic, of service: EmulatedCBService?) {
        uuid = core.uuid
        properties = core.properties
        self.core = core
        fields = Guarded(Fields(service: service, value: core.value, isNotifying: core.isNotifying))
        super.init()
    }

    /// The service, if it is alive.
    public var service: EmulatedCBService? { fields.withLock { $0.service } }

    /// The value that was last read or notified; writes do not change it.
    public var value: Data? { fields.withLock { $0.value } }

    /// The descriptors that were discovered; nil before any discovery.
    public var descriptors: [EmulatedCBDescriptor]? { fields.withLock { $0.descriptors } }

    /// Whether this central receives the value's notifications or indications.
    public var isNotifying: Bool { fields.withLock { $0.isNotifying } }

    /// The type and the value's length.
    public override var description: String {
        "<\(type(of: self)): UUID = \(uuid), value = \(value.map { "\($0.count) bytes" } ?? "nil")>"
    }

    func setService(_ service: EmulatedCBService?) { fields.withLock { $0.service = service } }

    func setValue(_ value: Data?) { fields.withLock { $0.value = value } }

    func setNotifying(_ isNotifying: Bool) { fields.withLock { $0.isNotifying = isNotifying } }

    func setDescriptors(_ descriptors: [EmulatedCBDescriptor]?) { fields.withLock { $0.descriptors = descriptors } }
}

// Invariant: that of the superclass.
/// A characteristic of a peripheral manager, which stores its value: the one that centrals read, and last wrote.
///
/// Change its descriptors before its service is added. Use it from one thread, or from the manager's queue.
public class EmulatedCBMutableCharacteristic: EmulatedCBCharacteristic, @unchecked Sendable {
    /// The manager's published object of it.
    struct Publication {
        let core: CBMutableCharacteristic
        weak var manager: EmulatedCBPeripheralManager?
    }

    /// The permissions for reads and writes.
    let permissions: CBAttributePermissions
    private let publication = Guarded<Publication?>(nil)

    /// Creates a characteristic without descriptors.
    ///
    /// - Parameters:
    ///   - type: The characteristic's type.
    ///   - properties: The operations that centrals may use.
    ///   - value: The initial value, 0…512 bytes. Unlike with Apple's class, the delegate also receives reads and
    ///     writes of a characteristic with a value.
    ///   - permissions: The permissions for reads and writes.
    public init(
        type: CBUUID, properties: CBCharacteristicProperties, value: Data?, permissions: CBAttributePermissions
    ) {
        self.permissions = permissions
        super.init(uuid: type, properties: properties, value: value)
    }

    /// The present subscribers; nil while it is not published.
    public var subscribedCentrals: [EmulatedCBCentral]? {
        guard let publication = publication.withLock({ $0 }), let manager = publication.manager else { return nil }
        return publication.core.subscribedCentrals?.map(manager.central)
    }

    /// The value that centrals read, and last wrote.
    public override var value: Data? {
        get { super.value }
        set { setValue(newValue) }
    }

    /// The descriptors; setting them makes this their `characteristic`.
    public override var descriptors: [EmulatedCBDescriptor]? {
        get { super.descriptors }
        set {
            for descriptor in super.descriptors ?? [] where descriptor.characteristic === self {
                descriptor.setCharacteristic(nil)
            }
            setDescriptors(newValue)
            for descriptor in newValue ?? [] { descriptor.setCharacteristic(self) }
        }
    }

    /// Whether a central subscribes.
    public override var isNotifying: Bool { subscribedCentrals?.isEmpty == false }

    /// The published characteristic; nil while it is not published.
    var published: CBMutableCharacteristic? { publication.withLock { $0?.core } }

    func setPublication(_ new: Publication?) { publication.withLock { $0 = new } }

    /// The descriptors that a manager can publish.
    var mutableDescriptors: [EmulatedCBMutableDescriptor] {
        (descriptors ?? []).compactMap { $0 as? EmulatedCBMutableDescriptor }
    }
}
