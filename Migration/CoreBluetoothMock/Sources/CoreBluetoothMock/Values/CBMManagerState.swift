import BluetoothBackend
import CoreBluetooth

/// The state of the Bluetooth adapter, with the raw values of `CBManagerState`.
///
/// An enumeration of its own, as clients list all its cases in a `switch` and have no `default`.
public enum CBMManagerState: Int, Sendable {
    /// Not known yet; an update follows.
    case unknown = 0
    /// The link to the system's Bluetooth service was lost; an update follows.
    case resetting = 1
    /// There is no adapter that can do Bluetooth Low Energy.
    case unsupported = 2
    /// The process may not use Bluetooth.
    case unauthorized = 3
    /// The adapter is switched off.
    case poweredOff = 4
    /// The adapter can be used.
    case poweredOn = 5
}

extension CBMManagerState {
    /// The same state; one that a later version of the API adds counts as unknown.
    init(_ state: CBManagerState) { self = CBMManagerState(rawValue: state.rawValue) ?? .unknown }

    /// The state that the emulator names so.
    init(_ state: AdapterState) {
        self =
            switch state {
            case .unknown: .unknown
            case .resetting: .resetting
            case .unsupported: .unsupported
            case .unauthorized: .unauthorized
            case .poweredOff: .poweredOff
            case .poweredOn: .poweredOn
            }
    }

    /// The same state as the emulator names it.
    var adapterState: AdapterState {
        switch self {
        case .unknown: .unknown
        case .resetting: .resetting
        case .unsupported: .unsupported
        case .unauthorized: .unauthorized
        case .poweredOff: .poweredOff
        case .poweredOn: .poweredOn
        }
    }
}
