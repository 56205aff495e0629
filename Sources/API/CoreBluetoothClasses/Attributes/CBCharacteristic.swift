package import BluetoothBackend
import BluetoothSupport
public import Foundation

/// A characteristic of a service.
///
/// Source: Apple, CBCharacteristic.
open class CBCharacteristic: CBAttribute {
    private struct Fields {
        weak var service: CBService?
        var value: Data?
        var descriptors: [CBDescriptor]?
        var isNotifying = false
        var isLastUpdateNotification = false
    }

    // Invariant: accessed under this lock.
    private let fields: LockedState<Fields>
    private let initialProperties: CBCharacteristicProperties

    /// Creates a characteristic of the app.
    init(uuid: CBUUID, properties: CBCharacteristicProperties) {
        initialProperties = properties
        fields = LockedState(Fields())
        super.init(uuid: uuid)
    }

    /// Creates a characteristic that was found at a peripheral.
    init(_ record: CharacteristicRecord, on link: LinkID, of service: CBService) {
        initialProperties = CBCharacteristicProperties(rawValue: UInt(record.properties.rawValue))
        fields = LockedState(Fields(service: service))
        super.init(
            uuid: CBUUID(record.uuid), reference: AttributeReference(link: link, id: record.id), handle: record.handle)
    }

    /// The service, if it is alive; nil for a characteristic of the app that belongs to no service.
    open internal(set) var service: CBService? {
        get { fields.withLock { $0.service } }
        set { fields.withLock { $0.service = newValue } }
    }

    /// The properties of the characteristic.
    open var properties: CBCharacteristicProperties { initialProperties }

    /// The value that was last read, notified or indicated; writes do not change it.
    open var value: Data? { fields.withLock { $0.value } }

    /// The descriptors found so far; nil before any discovery.
    open var descriptors: [CBDescriptor]? { fields.withLock { $0.descriptors } }

    /// Always false: no backend broadcasts values.
    @available(*, deprecated)
    open var isBroadcasted: Bool { false }

    /// Whether notifications or indications are on for this manager.
    open var isNotifying: Bool { fields.withLock { $0.isNotifying } }

    /// Whether the update that the delegate receives is a notification rather than the answer to a read.
    ///
    /// For use within the callback; Apple's interface does not show it.
    package var isLastUpdateNotification: Bool { fields.withLock { $0.isLastUpdateNotification } }

    func setValue(_ value: Data, isNotification: Bool) {
        fields.withLock {
            $0.value = value
            $0.isLastUpdateNotification = isNotification
        }
    }

    func setNotifying(_ isNotifying: Bool) {
        fields.withLock { $0.isNotifying = isNotifying }
    }

    func append(_ descriptors: [CBDescriptor]) {
        fields.withLock { $0.descriptors = ($0.descriptors ?? []) + descriptors }
    }

    /// `<CBCharacteristic: 0x1234, UUID = 2A37, properties = 0x10, value = (null), notifying = NO>`.
    open override var description: String {
        describe(
            self,
            [
                "UUID": uuid.description,
                "properties": "0x" + String(properties.rawValue, radix: 16, uppercase: true),
                "value": value.map { "{length = \($0.count)}" } ?? "(null)",
                "notifying": isNotifying ? "YES" : "NO",
            ])
    }
}

/// The properties of a characteristic.
///
/// The lower eight bits are those on the air. Sources: Apple, CBCharacteristicProperties; Core Specification, Vol 3,
/// Part G, 3.3.1.1.
public struct CBCharacteristicProperties: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Creates a set from bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value may be broadcast.
    ///
    /// Not allowed for local characteristics.
    public static let broadcast = Self(rawValue: 0x01)
    /// The value may be read.
    public static let read = Self(rawValue: 0x02)
    /// The value may be written without a response.
    public static let writeWithoutResponse = Self(rawValue: 0x04)
    /// The value may be written with a response.
    public static let write = Self(rawValue: 0x08)
    /// The value may be notified, without confirmation.
    public static let notify = Self(rawValue: 0x10)
    /// The value may be indicated, with confirmation.
    public static let indicate = Self(rawValue: 0x20)
    /// The value may be written with a signature.
    public static let authenticatedSignedWrites = Self(rawValue: 0x40)
    /// A descriptor has more properties.
    ///
    /// Not allowed for local characteristics.
    public static let extendedProperties = Self(rawValue: 0x80)
    /// Only trusted centrals may subscribe to notifications.
    ///
    /// For local characteristics.
    public static let notifyEncryptionRequired = Self(rawValue: 0x100)
    /// Only trusted centrals may subscribe to indications.
    ///
    /// For local characteristics.
    public static let indicateEncryptionRequired = Self(rawValue: 0x200)
}

extension CBCharacteristicProperties {
    /// The same properties in the protocol of the backends.
    package var backendProperties: CharacteristicProperties {
        CharacteristicProperties(rawValue: UInt16(truncatingIfNeeded: rawValue))
    }
}

/// The kind of a write.
///
/// Source: Apple, CBCharacteristicWriteType.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBCharacteristicWriteType: Int, Sendable {
    /// A write with an answer from the peer (ATT Write Request; longer values in parts).
    case withResponse = 0
    /// A write without an answer (ATT Write Command).
    case withoutResponse = 1
    /// A value that a later version of the API may add; keeps a `default` in a client's `switch` reachable.
    @available(*, unavailable)
    case _other = -1
}
