import BluetoothBackend
import CoreBluetooth

/// The state of the Bluetooth adapter, with the raw values of `CBManagerState`.
///
/// A separate enumeration, as clients list all its cases in a `switch` and have no `default`.
public enum CBMManagerState: Int, Sendable {
    /// The state is not known yet; an update follows.
    case unknown = 0
    /// The link to the system's Bluetooth service was lost; an update follows.
    case resetting = 1
    /// The machine has no adapter for Bluetooth Low Energy.
    case unsupported = 2
    /// The process may not use Bluetooth.
    case unauthorized = 3
    /// The adapter is switched off.
    case poweredOff = 4
    /// The adapter can be used.
    case poweredOn = 5
}

extension CBMManagerState {
    /// Converts a state; one that a later version of the API adds counts as unknown.
    init(_ state: CBManagerState) { self = CBMManagerState(rawValue: state.rawValue) ?? .unknown }

    /// Converts a state of the emulator.
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

    /// The state in the type of the emulator.
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
