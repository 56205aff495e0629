import BluetoothBackend
import BluetoothSupport
import Foundation

/// A descriptor of a characteristic.
///
/// Source: Apple, CBDescriptor.
open class CBDescriptor: CBAttribute {
    private struct Fields {
        weak var characteristic: CBCharacteristic?
        var value: Any?
    }

    // Invariant: accessed under this lock.
    private let fields: LockedState<Fields>

    /// Creates a descriptor of the app.
    init(uuid: CBUUID) {
        fields = LockedState(Fields())
        super.init(uuid: uuid)
    }

    /// Creates a descriptor that was found at a peripheral.
    init(_ record: DescriptorRecord, on link: LinkID, of characteristic: CBCharacteristic) {
        fields = LockedState(Fields(characteristic: characteristic))
        super.init(
            uuid: CBUUID(record.uuid), reference: AttributeReference(link: link, id: record.id), handle: record.handle)
    }

    /// The characteristic, if it is alive; nil for a descriptor of the app that belongs to no characteristic.
    open internal(set) var characteristic: CBCharacteristic? {
        get { fields.withLock { $0.characteristic } }
        set { fields.withLock { $0.characteristic = newValue } }
    }

    /// The value that was last read: `NSNumber` for 2900, 2902 and 2903, `String` for 2901, otherwise `Data`.
    open var value: Any? { fields.withLock { $0.value } }

    /// Sets the value from the bytes that were read, typed by the descriptor's UUID (S95).
    func setValue(_ bytes: Data) {
        let value = Self.typed(bytes, for: uuid.bluetoothUUID)
        fields.withLock { $0.value = value }
    }

    private static func typed(_ bytes: Data, for uuid: BluetoothUUID) -> Any {
        switch uuid.bits16 {
        case 0x2900, 0x2902, 0x2903:
            NSNumber(value: bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) })
        case 0x2901:
            // Apple's type is String whatever the peer sends; bytes that are not valid UTF-8 become replacement
            // characters.
            String(decoding: bytes, as: UTF8.self)
        default:
            bytes
        }
    }

    /// `<CBDescriptor: 0x1234, UUID = Characteristic User Description, value = (null)>`.
    open override var description: String {
        describe(self, ["UUID": uuid.description, "value": value.map { "\($0)" } ?? "(null)"])
    }
}

/// A descriptor of the local GATT database: a user description (2901, `String`) or a presentation format (2904,
/// `Data`).
///
/// The system creates those of 2900 and 2902. Immutable. Source: Apple, CBMutableDescriptor.
open class CBMutableDescriptor: CBDescriptor {
    private let ownValue: Any?

    /// Creates a descriptor that belongs to no characteristic yet.
    ///
    /// - Parameters:
    ///   - UUID: The descriptor's type.
    ///   - value: The value, which is checked when the descriptor's service is added to a manager.
    public init(type UUID: CBUUID, value: Any?) {
        ownValue = value
        super.init(uuid: UUID)
    }

    /// The value as it was given.
    open override var value: Any? { ownValue }
}
