package import BluetoothBackend
package import BluetoothEmulator
import BluetoothSupport

/// Replaces the data that identifies a device: its address, wherever it occurs, its serial number and its System ID.
///
/// Keys are never recorded. The name is kept, because apps search for it.
package struct Redaction: Sendable {
    /// The address of the recorded device in all notations that values contain, each with its replacement.
    private let patterns: [(original: [UInt8], replacement: [UInt8])]

    /// - Parameter address: The address to replace; nil if it is unknown.
    package init(address: DeviceAddress?, by replacement: DeviceAddress) {
        guard let address else {
            patterns = []
            return
        }
        patterns = zip(Self.forms(address), Self.forms(replacement)).map { ($0, $1) }
    }

    /// The bytes in both orders, and the digits with and without colons in both cases.
    private static func forms(_ address: DeviceAddress) -> [[UInt8]] {
        let bytes = (0..<6).reversed().map { UInt8(truncatingIfNeeded: address.bits >> (8 * UInt64($0))) }
        let colons = address.description
        let digits = colons.replacing(":", with: "")
        return [bytes, bytes.reversed()]
            + [colons, colons.lowercased(), digits, digits.lowercased()].map { Array($0.utf8) }
    }

    /// Returns the value of a recorded attribute without identifying data.
    package func redacted(_ value: Data, of attribute: RecordedAttribute) -> Data {
        redacted(value, of: attribute.descriptor == nil ? attribute.characteristic : nil)
    }

    /// Returns a value of the same length without identifying data.
    ///
    /// - Parameter characteristic: The characteristic of the value; nil for advertising data.
    package func redacted(_ value: Data, of characteristic: BluetoothUUID? = nil) -> Data {
        switch characteristic?.bits16 {
        case 0x2A25: Data(value.map(Self.redactedCharacter))
        case 0x2A23: Data(repeating: 0, count: value.count)
        default: replacingAddress(in: value)
        }
    }

    /// Returns the replacement of a character in a serial number.
    private static func redactedCharacter(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt8(ascii: "a")
        case 0x20..<0x7F where byte < UInt8(ascii: "A") || byte > UInt8(ascii: "Z"): byte
        default: UInt8(ascii: "A")
        }
    }

    private func replacingAddress(in value: Data) -> Data {
        guard value.count >= 6 else { return value }
        var bytes = Array(value)
        for (original, replacement) in patterns {
            var index = 0
            while index + original.count <= bytes.count {
                let range = index..<index + original.count
                if bytes[range].elementsEqual(original) {
                    bytes.replaceSubrange(range, with: replacement)
                    index = range.upperBound
                } else {
                    index += 1
                }
            }
        }
        return Data(bytes)
    }
}
