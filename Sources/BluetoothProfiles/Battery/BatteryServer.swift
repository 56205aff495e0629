public import CoreBluetooth

/// A battery that this program plays.
public final class BatteryServer: ProfileServer {
    /// The charge; a new one is notified.
    public let level: ServedValue<BatteryLevel>

    /// A battery with a charge.
    public init(level: BatteryLevel = .full) { self.level = ServedValue(BatteryService.level, level) }

    /// Battery.
    public var service: CBUUID { BatteryService.uuid }
    /// The level.
    public var values: [any ServedAttribute] { [level] }
}
