package import BluetoothBackend
public import Foundation

// Invariant: the only stored property is a `let` of a Sendable type.
/// A Bluetooth UUID of 16, 32 or 128 bits.
///
/// Two UUIDs are equal, and hash equally, when their 128-bit forms over the Bluetooth Base UUID are equal:
/// `180D`, `0000180D` and `0000180D-0000-1000-8000-00805F9B34FB` are one UUID in three widths. ``data`` and
/// ``uuidString`` keep the width of creation.
///
/// Immutable, so it may be used from any thread. Apple's `init(cfuuid:)` is missing: Foundation has no `CFUUID`
/// on Linux. Sources: Apple, CBUUID; Core Specification, Vol 3, Part B, 2.5.1.
open class CBUUID: NSObject, NSCopying, @unchecked Sendable {
    /// The value that backends use.
    package let bluetoothUUID: BluetoothUUID

    /// Wraps a backend's value.
    package init(_ uuid: BluetoothUUID) {
        bluetoothUUID = uuid
        super.init()
    }

    /// Reads a UUID as text.
    ///
    /// - Parameter string: 4 or 8 hexadecimal digits, with or without a leading `0x`, or the 8-4-4-4-12 form; either
    ///   letter case. Anything else is a programming error and traps, as Apple's raises an exception.
    public init(string: String) {
        guard let uuid = BluetoothUUID(string) else {
            preconditionFailure("String \(string) does not represent a valid UUID")
        }
        bluetoothUUID = uuid
        super.init()
    }

    /// Reads a UUID as bytes.
    ///
    /// - Parameter data: 2, 4 or 16 bytes, most significant first. Any other count is a programming error and traps.
    public init(data: Data) {
        guard let uuid = BluetoothUUID(bigEndian: data) else {
            preconditionFailure("Data of \(data.count) bytes does not represent a valid UUID")
        }
        bluetoothUUID = uuid
        super.init()
    }

    /// Makes a 128-bit UUID.
    ///
    /// - Parameter nsuuid: The UUID, whose byte order is kept.
    public init(nsuuid: UUID) {
        bluetoothUUID = BluetoothUUID(nsuuid)
        super.init()
    }

    /// The UUID as 2, 4 or 16 bytes, most significant first.
    ///
    /// On the air the order is the reverse.
    open var data: Data { Data(bluetoothUUID.bigEndianBytes) }

    /// The UUID in upper-case digits: 4, 8 or 36 characters, in the width of creation.
    open var uuidString: String { bluetoothUUID.text }

    /// Returns this object: it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns this object: it is immutable.
    open override func copy() -> Any { self }

    /// Whether `object` is a UUID of the same 128-bit form.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CBUUID else { return false }
        return bluetoothUUID == other.bluetoothUUID
    }

    /// A hash of the 128-bit form.
    open override var hash: Int { bluetoothUUID.hashValue }

    /// An English name for some standard UUIDs, else ``uuidString``.
    ///
    /// For people; the names may change.
    open override var description: String { standardDescription ?? uuidString }
}
