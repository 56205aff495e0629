import CoreBluetooth

/// A descriptor of a characteristic.
open class CBMDescriptor: CBMAttribute,
    // Invariant: that of the superclass.
    @unchecked Sendable
{
    struct Fields {
        weak var characteristic: CBMCharacteristic?
        var value: Any?
    }

    let fields = Protected(Fields())

    init(descriptor uuid: CBMUUID, identifier: UUID = UUID()) { super.init(uuid: uuid, identifier: identifier) }

    /// The characteristic, if it is alive; nil for a descriptor that belongs to none.
    open var characteristic: CBMCharacteristic? { optionalCharacteristic }

    /// The characteristic, if it is alive.
    var optionalCharacteristic: CBMCharacteristic? { fields.withLock { $0.characteristic } }

    /// The value that was last read: `NSNumber` for 2900, 2902 and 2903, `String` for 2901, otherwise `Data`.
    open internal(set) var value: Any? {
        get { fields.withLock { $0.value } }
        set { fields.withLock { $0.value = newValue } }
    }

    /// Sets the characteristic to which this descriptor belongs.
    func attach(to characteristic: CBMCharacteristic?) { fields.withLock { $0.characteristic = characteristic } }

    /// Whether it is Client Characteristic Configuration (2902).
    var isClientConfiguration: Bool { uuid == CBMUUID(string: CBUUIDClientCharacteristicConfigurationString) }
}

/// A descriptor of a peripheral's spec, which is the server's object.
///
/// Its reads and writes go to the delegate of the spec. Two objects are never equal.
open class CBMDescriptorMock: CBMDescriptor,
    // Invariant: that of the superclass.
    @unchecked Sendable
{
    /// Describes a descriptor.
    ///
    /// - Parameter uuid: The descriptor's type.
    public init(type uuid: CBMUUID) { super.init(descriptor: uuid) }
}

/// The Client Characteristic Configuration (2902) of a characteristic.
///
/// Every characteristic that notifies or indicates has one; clients discover it if the spec lists it.
open class CBMClientCharacteristicConfigurationDescriptorMock: CBMDescriptorMock,
    // Invariant: that of the superclass.
    @unchecked Sendable
{
    /// Describes the descriptor.
    public init() { super.init(type: CBMUUID(string: CBUUIDClientCharacteristicConfigurationString)) }
}

/// The short name of ``CBMClientCharacteristicConfigurationDescriptorMock``.
public typealias CBMCCCDescriptorMock = CBMClientCharacteristicConfigurationDescriptorMock
