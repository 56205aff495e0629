/// RSC Feature (2A54): what a runner's sensor can do.
///
/// Source: Running Speed and Cadence Service 1.0, 3.2.
public struct RSCFeature: OptionSet, GATTValue, CustomStringConvertible {
    /// The bits; those that the specification reserves are kept.
    public let rawValue: UInt16
    /// A set from its bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// It measures the length of a stride.
    public static let strideLength = RSCFeature(rawValue: 1)
    /// It measures the distance.
    public static let totalDistance = RSCFeature(rawValue: 2)
    /// The sensor distinguishes walking from running.
    public static let walkingOrRunning = RSCFeature(rawValue: 4)
    /// It can be calibrated.
    public static let calibration = RSCFeature(rawValue: 8)
    /// It can be put in several places.
    public static let multipleSensorLocations = RSCFeature(rawValue: 16)

    /// In words.
    public var description: String {
        let names: [(RSCFeature, String)] = [
            (.strideLength, "stride length"), (.totalDistance, "total distance"),
            (.walkingOrRunning, "walking or running"), (.calibration, "calibration"),
            (.multipleSensorLocations, "multiple sensor locations"),
        ]
        let present = names.filter { contains($0.0) }.map(\.1)
        return present.isEmpty ? "no features" : present.joined(separator: ", ")
    }
}
