#if os(Linux)
/// The limits of the D-Bus Specification, checked before a message is built.
public enum DBusLimits {
    /// The longest signature, in bytes.
    public static let signatureLength = 255
    /// The deepest nesting of arrays in one signature.
    public static let arrayDepth = 32
    /// The deepest nesting of structures and dictionary entries in one signature.
    public static let structureDepth = 32
    /// The deepest nesting of containers in one value, variants included.
    public static let totalDepth = 64
    /// The longest array, in bytes of its marshalled elements: 64 MiB.
    public static let arrayLength = 64 << 20
    /// The longest message, header included: 128 MiB.
    public static let messageLength = 128 << 20
    /// The longest bus, interface, member or error name, in bytes.
    public static let nameLength = 255
}
#endif
