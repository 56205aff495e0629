/// Sizes of the Attribute Protocol, in bytes.
///
/// Source: Core Specification, Vol 3, Part F, 3.2 and 3.4; Part G, 5.2.1.
public enum ATTLimits {
    /// The ATT_MTU of a link before it is exchanged, which is also the minimum of LE.
    public static let minimumMTU = 23
    /// The largest useful ATT_MTU: the longest value, and five bytes of a Prepare Write around it.
    public static let maximumMTU = 517
    /// The longest value of an attribute.
    public static let longestValue = 512

    /// The length of the opcode and the handle before the value of a write, a write command, a notification or an
    /// indication.
    package static let valueHeader = 3

    /// Returns the number of bytes of a value that one write, write command, notification or indication carries.
    package static func written(mtu: Int) -> Int { mtu - valueHeader }

    /// Whether a write takes Prepare Writes, because its value is too long for one write or begins at an offset.
    package static func isPrepared(count: Int, offset: UInt16, mtu: Int) -> Bool {
        offset > 0 || count > written(mtu: mtu)
    }

    /// Returns the number of bytes of a value that one response to a read carries.
    package static func read(mtu: Int) -> Int { mtu - 1 }

    /// Returns the number of bytes of a value that one Prepare Write carries.
    package static func prepared(mtu: Int) -> Int { mtu - 5 }
}
