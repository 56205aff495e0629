/// What a characteristic can do.
///
/// The lower eight bits are those on the air. Sources: Apple, CBCharacteristicProperties; Core Specification, Vol 3,
/// Part G, 3.3.1.1.
public struct CBCharacteristicProperties: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt

    /// Makes a set of bits.
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
