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

/// Battery Level (2A19): the charge in percent.
///
/// Source: Battery Service 1.0, 3.1; GATT Specification Supplement, Battery Level.
public struct BatteryLevel: GATTValue, CustomStringConvertible {
    /// 0...100 percent.
    public let percent: UInt8

    /// 100 percent.
    public static let full = BatteryLevel(checked: 100)

    private init(checked percent: UInt8) { self.percent = percent }

    /// A charge.
    ///
    /// - Throws: ``GATTValueError`` outside of 0...100 percent.
    public init(percent: Int) throws(GATTValueError) {
        self.percent = try Self.checked(percent, "Battery Level", in: 0...100)
    }

    /// Reads a byte.
    ///
    /// - Throws: ``GATTValueError`` above 100, which is reserved.
    public init(from reader: inout GATTReader) throws(GATTValueError) {
        percent = try reader.uint8("Battery Level", in: 0...100)
    }

    /// Writes a byte.
    public func write(to writer: inout GATTWriter) { writer.append(percent) }

    /// `87 %`.
    public var description: String { "\(percent) %" }
}

/// The battery of another device.
public struct BatteryClient: Sendable {
    /// The device.
    public let peripheral: Peripheral

    /// The battery of a device; sends no request.
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
    /// The charge; a new one is notified.
    public let level: ServedValue<BatteryLevel>

    /// A battery with a charge.
    public init(level: BatteryLevel = .full) { self.level = ServedValue(BatteryService.level, level) }

    /// Battery.
    public var service: CBUUID { BatteryService.uuid }
    /// The level.
    public var values: [any ServedAttribute] { [level] }
}
