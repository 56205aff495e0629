/// An ATT error code, 0x01...0xFF; codes without a name here are preserved.
///
/// Source: Core Specification, Vol 3, Part F, 3.4.1.1.
public struct ATTCode: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The code.
    public let rawValue: UInt8
    /// Creates a code from its number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Creates a code from a literal.
    public init(integerLiteral value: UInt8) { rawValue = value }

    /// The attribute does not exist.
    public static let invalidHandle: ATTCode = 0x01
    /// The attribute cannot be read.
    public static let readNotPermitted: ATTCode = 0x02
    /// The attribute cannot be written.
    public static let writeNotPermitted: ATTCode = 0x03
    /// The link must be authenticated first.
    public static let insufficientAuthentication: ATTCode = 0x05
    /// The server does not support the request.
    public static let requestNotSupported: ATTCode = 0x06
    /// The offset is beyond the end of the value.
    public static let invalidOffset: ATTCode = 0x07
    /// The server cannot hold more prepared writes.
    public static let prepareQueueFull: ATTCode = 0x09
    /// No such attribute was found in the given range.
    public static let attributeNotFound: ATTCode = 0x0A
    /// The value's length is wrong for the attribute.
    public static let invalidAttributeValueLength: ATTCode = 0x0D
    /// An unlikely error occurred.
    public static let unlikelyError: ATTCode = 0x0E
    /// The link must be encrypted first; the devices are paired.
    public static let insufficientEncryption: ATTCode = 0x0F
    /// The server does not accept the value, whose length is right.
    public static let valueNotAllowed: ATTCode = 0x13
}
