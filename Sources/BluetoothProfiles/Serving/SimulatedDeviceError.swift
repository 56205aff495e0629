public import CoreBluetooth

/// Why a device could not go on the air.
public enum SimulatedDeviceError: Error, CustomStringConvertible {
    /// The adapter cannot play a device, or not now.
    case unavailable(CBManagerState)
    /// It is on the air already.
    case alreadyStarted
    /// It was stopped while it started.
    case stopped
    /// The system refused a service.
    case serviceRefused(CBUUID, any Error)
    /// The system refused the advertisement.
    case advertisingRefused(any Error)

    /// For people, one line.
    public var description: String {
        switch self {
        case .unavailable(let state): "the adapter is \(state)"
        case .alreadyStarted: "the device is on the air already"
        case .stopped: "the device was stopped"
        case .serviceRefused(let uuid, let error): "service \(uuid.uuidString): \(error.localizedDescription)"
        case .advertisingRefused(let error): "advertising: \(error.localizedDescription)"
        }
    }
}
