import Foundation

/// The services and characteristics of a sensor, all of them standard.
enum SensorProfile {
    /// The Battery Service, which every sensor has and advertises.
    static let battery = CBUUID(string: "180F")
    /// Battery Level: one byte, in percent.
    static let batteryLevel = CBUUID(string: "2A19")

    /// The Environmental Sensing Service.
    static let environment = CBUUID(string: "181A")
    /// Humidity, here of the soil: two bytes, in 0.01 %.
    static let humidity = CBUUID(string: "2A6F")
    /// Temperature: two bytes with a sign, in 0.01 °C.
    static let temperature = CBUUID(string: "2A6E")

    /// The Immediate Alert Service.
    static let immediateAlert = CBUUID(string: "1802")
    /// Alert Level: one byte, 0 for none to 2 for high.
    static let alertLevel = CBUUID(string: "2A06")

    /// The services that the app uses.
    static let services = [battery, environment, immediateAlert]
}

/// The volume of a sensor's alert: the values of Alert Level.
enum AlertLevel: UInt8 {
    case none = 0
    case mild = 1
    case high = 2
}
