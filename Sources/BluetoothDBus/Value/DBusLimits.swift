#if os(Linux)
/// The limits of the D-Bus Specification, checked before a message is built.
package enum DBusLimits {
    /// The longest signature, in bytes.
    package static let signatureLength = 255
    /// The deepest nesting of arrays in one signature.
    package static let arrayDepth = 32
    /// The deepest nesting of structures and dictionary entries in one signature.
    package static let structureDepth = 32
    /// The deepest nesting of containers in one value, variants included.
    package static let totalDepth = 64
    /// The longest array, in bytes of its marshalled elements: 64 MiB.
    package static let arrayLength = 64 << 20
    /// The longest message, header included: 128 MiB.
    package static let messageLength = 128 << 20
    /// The longest bus, interface, member or error name, in bytes.
    package static let nameLength = 255
}
#endif
