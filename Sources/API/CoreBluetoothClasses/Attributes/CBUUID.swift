// swift-format-ignore-file: AlwaysUseLowerCamelCase

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

    package init(_ uuid: BluetoothUUID) {
        bluetoothUUID = uuid
        super.init()
    }

    /// Reads a UUID as text.
    ///
    /// - Parameter string: 4 or 8 hexadecimal digits or the 8-4-4-4-12 form, with or without a leading `0x`; either
    ///   letter case. Anything else is a programming error and traps, as Apple's raises an exception.
    public init(string: String) {
        // Only this initializer accepts the prefix before the long form; BlueZ and world files do not.
        let isPrefixedLongForm = string.utf8.count == 38 && string.lowercased().hasPrefix("0x")
        guard let uuid = BluetoothUUID(isPrefixedLongForm ? string.dropFirst(2) : string[...]) else {
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

    /// Creates a 128-bit UUID.
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

    /// An English name for some standard UUIDs, otherwise ``uuidString``.
    ///
    /// For people; the names may change.
    open override var description: String { standardDescription ?? uuidString }
}

extension CBUUID {
    /// The name that Apple's CoreBluetooth prints for this UUID; nil if it prints the digits.
    ///
    /// Apple names few: 1802, 1803 and 1811 stay digits, for instance. This is the list that was seen.
    var standardDescription: String? { Self.described[bluetoothUUID] }

    private static let described: [BluetoothUUID: String] = [
        "1805": "Current Time",
        "180A": "Device Information",
        "180D": "Heart Rate",
        "180F": "Battery",
        "2A23": "System ID",
        "2A24": "Model Number String",
        "D0611E78-BBB4-4591-A5F8-487910AE4366": "Continuity",
    ]
}

// UUIDs as text. Each line names the type of `CBDescriptor.value` for such a descriptor; for any other it is `Data`.
// Sources: Apple, CBUUID; Core Specification, Vol 3, Part G, 3.3.3; Assigned Numbers, section 3.7.

/// Characteristic Extended Properties, 2900: `NSNumber`.
public let CBUUIDCharacteristicExtendedPropertiesString = "2900"

/// Characteristic User Description, 2901: `String`.
public let CBUUIDCharacteristicUserDescriptionString = "2901"

/// Client Characteristic Configuration, 2902: `NSNumber`.
public let CBUUIDClientCharacteristicConfigurationString = "2902"

/// Server Characteristic Configuration, 2903: `NSNumber`.
public let CBUUIDServerCharacteristicConfigurationString = "2903"

/// Characteristic Presentation Format, 2904: `Data`.
public let CBUUIDCharacteristicFormatString = "2904"

/// Characteristic Aggregate Format, 2905: `Data`.
public let CBUUIDCharacteristicAggregateFormatString = "2905"

/// Valid Range, 2906: `Data`.
public let CBUUIDCharacteristicValidRangeString = "2906"

/// Observation Schedule, 2910: `Data`.
public let CBUUIDCharacteristicObservationScheduleString = "2910"

/// A characteristic whose value is a PSM of an L2CAP channel, in two bytes, least significant first.
public let CBUUIDL2CAPPSMCharacteristicString = "ABDD3056-28FA-441D-A470-55A75A52553A"
