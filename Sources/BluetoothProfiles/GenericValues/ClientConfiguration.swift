/// Client Characteristic Configuration (2902): what a client subscribes to.
///
/// Source: Core Specification, Vol 3, Part G, 3.3.3.3.
public struct ClientConfiguration: OptionSet, GATTValue, CustomStringConvertible {
    /// The bits; those that the specification reserves are kept.
    public let rawValue: UInt16
    /// A set from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Values come without confirmation.
    public static let notifications = ClientConfiguration(rawValue: 1)
    /// Values come with confirmation.
    public static let indications = ClientConfiguration(rawValue: 2)

    /// `notifications and indications`.
    public var description: String {
        let parts = [contains(.notifications) ? "notifications" : nil, contains(.indications) ? "indications" : nil]
        let names = parts.compactMap { $0 }
        return names.isEmpty ? "off" : names.joined(separator: " and ")
    }
}
