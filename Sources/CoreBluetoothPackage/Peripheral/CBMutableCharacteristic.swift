public import Foundation

/// A characteristic of the local GATT database.
///
/// Change it before its service is added to a ``CBPeripheralManager``: published characteristics are frozen, except for
/// the `value` of one that was made without. Not thread-safe: use it from one thread, or from the manager's queue.
/// Source: Apple, CBMutableCharacteristic.
open class CBMutableCharacteristic: CBCharacteristic {
    private var ownProperties: CBCharacteristicProperties
    private var ownValue: Data?
    private var ownDescriptors: [CBDescriptor]?

    /// What the local server allows with the value.
    open var permissions: CBAttributePermissions

    /// The centrals that subscribe now.
    ///
    /// Changes on the manager's queue only.
    open internal(set) var subscribedCentrals: [CBCentral]? = []

    /// Makes a characteristic that belongs to no service yet.
    ///
    /// - Parameters:
    ///   - UUID: The characteristic's type.
    ///   - properties: What clients are told that they can do.
    ///   - value: A value that the system serves by itself, up to 512 bytes; such a characteristic must be read-only. With nil
    ///     the app is asked for each read and write.
    ///   - permissions: What the local server allows.
    public init(
        type UUID: CBUUID, properties: CBCharacteristicProperties, value: Data?, permissions: CBAttributePermissions
    ) {
        ownProperties = properties
        ownValue = value
        self.permissions = permissions
        super.init(uuid: UUID, properties: properties)
    }

    /// What clients are told that they can do.
    open override var properties: CBCharacteristicProperties {
        get { ownProperties }
        set { ownProperties = newValue }
    }

    /// The value.
    ///
    /// What centrals write is not stored here.
    open override var value: Data? {
        get { ownValue }
        set { ownValue = newValue }
    }

    /// The descriptors.
    ///
    /// Setting them makes this their `characteristic`, weakly; those left out lose it.
    open override var descriptors: [CBDescriptor]? {
        get { ownDescriptors }
        set {
            for descriptor in ownDescriptors ?? [] where descriptor.characteristic === self {
                descriptor.characteristic = nil
            }
            ownDescriptors = newValue
            for descriptor in newValue ?? [] { descriptor.characteristic = self }
        }
    }
}
