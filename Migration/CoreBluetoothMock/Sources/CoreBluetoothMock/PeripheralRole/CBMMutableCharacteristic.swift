import CoreBluetooth

/// A characteristic of the local GATT database.
///
/// Change it before its service is added to a ``CBMPeripheralManager``: while it is published, changes are ignored with
/// a log line, except for the `value` of a characteristic that was published without one.
///
/// Thread rule: use it from one thread, or from the manager's queue.
open class CBMMutableCharacteristic: CBMCharacteristic,
    // Invariant: that of the superclass; mutable state is under a lock.
    @unchecked Sendable
{
    private let held: Protected<CBMutableCharacteristic>
    /// The wrappers of the present or last subscribers.
    private let centrals = Protected<[CBMCentral]>([])
    private let notifyingByTest = Protected<Bool?>(nil)

    /// The characteristic of CoreBluetooth.
    var wrapped: CBMutableCharacteristic { held.withLock { $0 } }

    /// Creates a characteristic that belongs to no service yet.
    ///
    /// - Parameters:
    ///   - UUID: The characteristic's type.
    ///   - properties: The properties that clients discover.
    ///   - value: A value that the system serves without the app, up to 512 bytes; such a characteristic must be
    ///     read-only. With nil, the app receives each read and write.
    ///   - permissions: The accesses that the local server allows.
    public init(
        type UUID: CBMUUID, properties: CBMCharacteristicProperties, value: Data?, permissions: CBMAttributePermissions
    ) {
        held = Protected(
            BridgedCharacteristic(type: UUID, properties: properties, value: value, permissions: permissions))
        super.init(uuid: UUID, properties: properties)
        (wrapped as? BridgedCharacteristic)?.owner = self
    }

    /// The permissions of the value.
    open var permissions: CBMAttributePermissions {
        get { wrapped.permissions }
        set { wrapped.permissions = newValue }
    }

    /// The properties that clients discover.
    open override var properties: CBMCharacteristicProperties {
        get { wrapped.properties }
        set { wrapped.properties = newValue }
    }

    /// The value; values that centrals write are not stored here.
    open override var value: Data? {
        get { wrapped.value }
        set { wrapped.value = newValue }
    }

    /// Whether any central subscribes; a value that a test sets applies until that changes.
    open override internal(set) var isNotifying: Bool {
        get { notifyingByTest.withLock { $0 } ?? (subscribedCentrals?.isEmpty == false) }
        set { notifyingByTest.withLock { $0 = newValue } }
    }

    /// The present subscribers, in the order in which they subscribed.
    open var subscribedCentrals: [CBMCentral]? {
        let known = centrals.withLock { $0 }
        return wrapped.subscribedCentrals?.compactMap { central in known.first { $0.wrapped === central } }
    }

    /// The descriptors: user descriptions (2901) and presentation formats (2904).
    open override var descriptors: [CBMDescriptor]? {
        get { super.descriptors }
        set {
            let descriptors = newValue?.compactMap { $0 as? CBMMutableDescriptor }
            let objects = descriptors?.map(\.wrapped) ?? []
            wrapped.descriptors = objects
            guard (wrapped.descriptors ?? []).elementsEqual(objects, by: { $0 === $1 }) else { return }
            fields.withLock { $0.descriptors = descriptors }
            for descriptor in descriptors ?? [] { descriptor.attach(to: self) }
        }
    }

    /// Wraps the characteristic that the system has restored.
    func rebind(to characteristic: CBMutableCharacteristic) { held.withLock { $0 = characteristic } }

    /// Records the subscribers, on the manager's queue.
    func setSubscribers(_ subscribers: [CBMCentral]) {
        notifyingByTest.withLock { $0 = nil }
        centrals.withLock { $0 = subscribers }
    }
}

/// A characteristic that knows its wrapper.
final class BridgedCharacteristic: CBMutableCharacteristic {
    weak var owner: CBMMutableCharacteristic?
}

/// A descriptor of the local GATT database: a user description (2901, `String`) or a presentation format (2904,
/// `Data`).
open class CBMMutableDescriptor: CBMDescriptor,
    // Invariant: that of the superclass; `wrapped` is immutable.
    @unchecked Sendable
{
    /// The descriptor of CoreBluetooth.
    let wrapped: CBMutableDescriptor

    /// Creates a descriptor that belongs to no characteristic yet.
    ///
    /// - Parameters:
    ///   - UUID: The descriptor's type.
    ///   - value: The value, which is checked when the service is added to a manager.
    public init(type UUID: CBMUUID, value: Any?) {
        wrapped = CBMutableDescriptor(type: UUID, value: value)
        super.init(descriptor: UUID)
        super.value = value
    }
}
