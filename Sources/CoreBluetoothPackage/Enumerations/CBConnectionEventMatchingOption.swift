/// Which devices connection events are wanted of.
///
/// Source: Apple, CBConnectionEventMatchingOption.
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
    /// The option's name.
    public let rawValue: String

    /// Makes an option of a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Devices with one of these services: `[CBUUID]`, at most four.
    ///
    /// The string behind it is not certain.
    public static let serviceUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")
    /// Devices with one of these identifiers: `[UUID]`.
    ///
    /// The string behind it is not certain.
    public static let peripheralUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}
