import Foundation

/// A reason that the app cannot work.
enum SensorError: Error, Equatable {
    /// The state of the adapter is not known yet.
    case adapterIsNotReady
    /// The adapter is switched off.
    case adapterIsOff
    /// The app has no permission to use Bluetooth.
    case notAuthorized
    /// The machine has no adapter for Bluetooth Low Energy.
    case noAdapter
    /// The system does not know a sensor by this identifier.
    case unknownSensor(UUID)
    /// The device has no Battery Service.
    case noBattery
    /// The sensor cannot alert, or is not connected.
    case noAlert
    /// The value of a characteristic has the wrong length or is out of range.
    case malformedValue(CBUUID)
}

extension SensorError: LocalizedError {
    var errorDescription: String? {
        switch self {
        case .adapterIsNotReady: "The state of the Bluetooth adapter is not known yet."
        case .adapterIsOff: "Bluetooth is switched off."
        case .notAuthorized: "This program may not use Bluetooth."
        case .noAdapter: "There is no Bluetooth adapter."
        case .unknownSensor(let identifier): "The sensor \(identifier) is not known here."
        case .noBattery: "The device has no Battery Service."
        case .noAlert: "The sensor cannot alert."
        case .malformedValue(let type): "The sensor sends a malformed value of \(type)."
        }
    }
}
