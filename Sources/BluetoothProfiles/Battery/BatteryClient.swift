public import AsyncBluetooth
public import CoreBluetooth

/// The battery of another device.
public struct BatteryClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// The battery of a device; nothing is asked yet.
    public init(_ peripheral: Peripheral) { self.peripheral = peripheral }

    /// Reads the charge.
    public func level() async throws -> BatteryLevel { try await peripheral.read(BatteryService.level) }

    /// The charge each time that it changes.
    public var levels: AsyncThrowingMapSequence<ValueSequence<Data>, BatteryLevel> {
        peripheral.values(of: BatteryService.level)
    }
}
