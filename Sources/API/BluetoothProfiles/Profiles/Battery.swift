public import AsyncBluetooth
public import CoreBluetooth

/// The service Battery (180F): its characteristics.
///
/// Source: Battery Service 1.0.
public enum BatteryService {
    /// The service's UUID.
    public static let uuid = CBUUID(string: "180F")
    /// The charge (2A19).
    public static let level = GATTCharacteristic<BatteryLevel>("2A19", in: "180F", [.read, .notify])
}

/// A client of another device's battery.
public struct BatteryClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// Creates a client of a device; sends no request.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// Reads the charge.
    public func level() async throws -> BatteryLevel { try await peripheral.read(BatteryService.level) }

    /// The charge after each change.
    public var levels: AsyncThrowingMapSequence<ValueSequence<Data>, BatteryLevel> {
        peripheral.values(of: BatteryService.level)
    }
}

/// A simulated battery.
public final class BatteryServer: ProfileServer {
    /// The charge; a new value is notified.
    public let level: ServedValue<BatteryLevel>

    /// Creates a battery with a charge.
    public init(level: BatteryLevel = .full) { self.level = ServedValue(BatteryService.level, level) }

    /// The UUID of the service Battery.
    public var service: CBUUID { BatteryService.uuid }
    /// The level.
    public var values: [any ServedAttribute] { [level] }
}
