import Foundation

/// One value that a sensor has measured.
enum Reading: Equatable {
    /// The level of the battery, in percent.
    case battery(Int)
    /// The humidity of the soil, in percent.
    case soil(Double)
    /// The temperature of the air, in °C.
    case temperature(Double)

    /// Reads the value of a characteristic; nil if its length or its type is not that of a measurement.
    init?(_ value: Data, of type: CBUUID) {
        let bytes = [UInt8](value)
        switch (type, bytes.count) {
        case (SensorProfile.batteryLevel, 1) where bytes[0] <= 100: self = .battery(Int(bytes[0]))
        case (SensorProfile.humidity, 2): self = .soil(Double(Self.number(bytes)) / 100)
        case (SensorProfile.temperature, 2):
            self = .temperature(Double(Int16(bitPattern: Self.number(bytes))) / 100)
        default: return nil
        }
    }

    /// Reads two bytes, the least significant first.
    private static func number(_ bytes: [UInt8]) -> UInt16 { UInt16(bytes[0]) | UInt16(bytes[1]) << 8 }
}

extension Reading: CustomStringConvertible {
    var description: String {
        switch self {
        case .battery(let level): "battery \(level) %"
        case .soil(let humidity): String(format: "soil %.1f %%", humidity)
        case .temperature(let degrees): String(format: "temperature %.1f °C", degrees)
        }
    }
}
