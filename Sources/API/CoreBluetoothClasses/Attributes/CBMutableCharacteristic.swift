import BluetoothSupport
public import Foundation

/// A characteristic of the local GATT database.
///
/// Change it before its service is added to a ``CBPeripheralManager``: while it is published it is frozen, and changes
/// are ignored with a log line, except for the `value` of one that was published without. Not thread-safe: use it from
/// one thread, or from the manager's queue. Source: Apple, CBMutableCharacteristic.
open class CBMutableCharacteristic: CBCharacteristic {
    private var ownProperties: CBCharacteristicProperties
    private var ownPermissions: CBAttributePermissions
    private var ownValue: Data?
    private var ownDescriptors: [CBDescriptor]?
    // Invariant: the array is accessed under this lock.
    private let subscribers = LockedState<[CBCentral]>([])

    let publication = Publication()

    /// Creates a characteristic that belongs to no service yet.
    ///
    /// - Parameters:
    ///   - UUID: The characteristic's type.
    ///   - properties: The properties that clients discover.
    ///   - value: A value that the system serves without the app, up to 512 bytes; such a characteristic must be
    ///     read-only. With nil, the app receives each read and write.
    ///   - permissions: The accesses that the local server allows.
    public init(
        type UUID: CBUUID, properties: CBCharacteristicProperties, value: Data?, permissions: CBAttributePermissions
    ) {
        ownProperties = properties
        ownPermissions = permissions
        ownValue = value
        super.init(uuid: UUID, properties: properties)
    }

    /// The permissions of the value.
    open var permissions: CBAttributePermissions {
        get { ownPermissions }
        set { if publication.allowsChange(of: self, "permissions") { ownPermissions = newValue } }
    }

    /// The properties that clients discover.
    open override var properties: CBCharacteristicProperties {
        get { ownProperties }
        set { if publication.allowsChange(of: self, "properties") { ownProperties = newValue } }
    }

    /// The value.
    ///
    /// Values that centrals write are not stored here.
    open override var value: Data? {
        get { ownValue }
        set { if !publication.isStaticallyHeld || publication.allowsChange(of: self, "value") { ownValue = newValue } }
    }

    /// The descriptors.
    ///
    /// Setting them makes this their `characteristic`, weakly; those left out lose it.
    open override var descriptors: [CBDescriptor]? {
        get { ownDescriptors }
        set {
            guard publication.allowsChange(of: self, "descriptors") else { return }
            for descriptor in ownDescriptors ?? [] where descriptor.characteristic === self {
                descriptor.characteristic = nil
            }
            ownDescriptors = newValue
            for descriptor in newValue ?? [] { descriptor.characteristic = self }
        }
    }

    // MARK: Subscribers

    /// The current subscribers, in the order in which they subscribed.
    ///
    /// Changes on the manager's queue only, just before the callback.
    open var subscribedCentrals: [CBCentral]? { subscribers.withLock { $0 } }

    func addSubscriber(_ central: CBCentral) {
        subscribers.withLock { $0.append(central) }
    }

    func removeSubscriber(_ identifier: UUID) -> CBCentral? {
        subscribers.withLock { subscribers in
            subscribers.firstIndex { $0.identifier == identifier }.map { subscribers.remove(at: $0) }
        }
    }

    func removeSubscribers() {
        subscribers.withLock { $0 = [] }
    }
}

/// The permissions of a value.
///
/// Source: Apple, CBAttributePermissions.
public struct CBAttributePermissions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates a set from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Centrals may read.
    public static let readable = Self(rawValue: 0x01)
    /// Centrals may write.
    public static let writeable = Self(rawValue: 0x02)
    /// Trusted centrals may read.
    public static let readEncryptionRequired = Self(rawValue: 0x04)
    /// Trusted centrals may write.
    public static let writeEncryptionRequired = Self(rawValue: 0x08)
}
