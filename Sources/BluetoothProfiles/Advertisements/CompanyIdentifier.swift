import BluetoothValues
public import CoreBluetooth

/// The company identifier that manufacturer data begin with: who defines the bytes behind it.
///
/// Anyone can send any identifier; it proves nothing about who made the device.
/// Source: Assigned Numbers, 7.1; Supplement to the Core Specification, Part A, 1.4.
public struct CompanyIdentifier: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt16

    /// An identifier by its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The identifier of manufacturer data: their first two bytes, least significant first.
    ///
    /// - Returns: nil for fewer than two bytes.
    public init?(manufacturerData: Data) {
        let bytes = manufacturerData.prefix(2)
        guard let low = bytes.first, let high = bytes.dropFirst().first else { return nil }
        rawValue = UInt16(high) << 8 | UInt16(low)
    }

    /// The company's name: `Ruuvi Innovations Ltd.` for 0x0499; nil for a number that is not assigned.
    ///
    /// A program that asks for a name carries the names of all companies, about 80 kB.
    public var name: String? { AssignedNumbers.company(rawValue) }

    // Without the name: conformances are linked even where they are not used, and the table would be with them.
    /// The number: `0x0499`.
    public var description: String { "0x" + Decimals.hex(rawValue, width: 4) }
}
