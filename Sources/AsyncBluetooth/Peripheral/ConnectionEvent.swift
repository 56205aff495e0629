public import Foundation

/// What happens to a connection that is kept up; each event names the device.
public enum ConnectionEvent: Sendable {
    /// There is a link, and the notifications are subscribed to again.
    case connected(Peripheral)
    /// An attempt failed; the next one follows.
    case failed(BluetoothError)
    /// The link ended; the next attempt follows.
    case disconnected(BluetoothError)
    /// As many attempts failed in a row as ``ReconnectionPolicy/attempts`` allows; nothing follows.
    case gaveUp(BluetoothError)
    /// The app called ``Peripheral/disconnect()``; nothing follows.
    case cancelled(Peripheral)

    /// The device's identifier.
    public var identifier: UUID? {
        switch self {
        case .connected(let peripheral), .cancelled(let peripheral): peripheral.identifier
        case .failed(let error), .disconnected(let error), .gaveUp(let error): error.peer
        }
    }
}

extension ConnectionEvent: CustomStringConvertible {
    /// What happened to which device, as in `connected to Lamp (8A2F…)`.
    public var description: String {
        switch self {
        case .connected(let peripheral): "connected to \(peripheral.label)"
        case .failed(let error), .disconnected(let error): "\(error)"
        case .gaveUp(let error): "gave up: \(error)"
        case .cancelled(let peripheral): "disconnected from \(peripheral.label) by the app"
        }
    }
}
