/// Sensor Location (2A5D): where the sensor of a cyclist or a runner sits.
///
/// Source: GATT Specification Supplement, Sensor Location.
public enum SensorLocation: UInt8, GATTValue, CaseIterable, CustomStringConvertible {
    /// None of the others.
    case other = 0
    /// On top of a shoe.
    case topOfShoe
    /// In a shoe.
    case inShoe
    /// At the hip.
    case hip
    /// At the front wheel.
    case frontWheel
    /// At the left crank.
    case leftCrank
    /// At the right crank.
    case rightCrank
    /// At the left pedal.
    case leftPedal
    /// At the right pedal.
    case rightPedal
    /// At the front hub.
    case frontHub
    /// At the rear dropout.
    case rearDropout
    /// At the chainstay.
    case chainstay
    /// At the rear wheel.
    case rearWheel
    /// At the rear hub.
    case rearHub
    /// On the chest.
    case chest
    /// At the spider.
    case spider
    /// At the chain ring.
    case chainRing

    private static let names = [
        "other", "top of shoe", "in shoe", "hip", "front wheel", "left crank", "right crank", "left pedal",
        "right pedal", "front hub", "rear dropout", "chainstay", "rear wheel", "rear hub", "chest", "spider",
        "chain ring",
    ]

    /// In words.
    public var description: String { Self.names[Int(rawValue)] }
}
