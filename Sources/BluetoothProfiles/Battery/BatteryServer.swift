public import CoreBluetooth

/// A battery that this program plays.
public final class BatteryServer: ProfileServer {
    /// The charge; a new one is notified.
    public let level: ServedValue<BatteryLevel>

    /// A battery with a charge of 0...100 percent.
    public init(percent: Int = 100) {
        level = ServedValue(BatteryService.level, BatteryLevel(percent: percent))
    }

    /// Battery.
    public var service: CBUUID { BatteryService.uuid }
    /// The level.
    public var values: [any ServedAttribute] { [level] }
}
