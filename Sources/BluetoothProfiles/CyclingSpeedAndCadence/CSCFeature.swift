/// CSC Feature (2A5C): what a cycling sensor can do.
///
/// Source: Cycling Speed and Cadence Service 1.0, 3.2.
public struct CSCFeature: OptionSet, GATTValue, CustomStringConvertible {
    /// The bits; those that the specification reserves are kept.
    public let rawValue: UInt16
    /// A set from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// It counts the revolutions of a wheel.
    public static let wheelRevolutions = CSCFeature(rawValue: 1)
    /// It counts the revolutions of a crank.
    public static let crankRevolutions = CSCFeature(rawValue: 2)
    /// It can be put in several places.
    public static let multipleSensorLocations = CSCFeature(rawValue: 4)

    /// In words.
    public var description: String {
        let names: [(CSCFeature, String)] = [
            (.wheelRevolutions, "wheel revolutions"), (.crankRevolutions, "crank revolutions"),
            (.multipleSensorLocations, "multiple sensor locations"),
        ]
        let present = names.filter { contains($0.0) }.map(\.1)
        return present.isEmpty ? "no features" : present.joined(separator: ", ")
    }
}
