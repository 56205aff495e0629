import CoreBluetoothPackage

/// What to do where the radio cannot be used.
enum AdapterFailure {
    /// The failure for a state: what the backend's own log line says, else a line of ours.
    ///
    /// The log is silent afterwards, so that the user reads the remedy once.
    static func failure(_ state: CBManagerState) -> Failure {
        let line = Diagnostics.close() ?? remedy(state)
        return Failure(.failed, line.contains("doctor") ? line : line + "; \"bluectl doctor\" tells more")
    }

    /// What to do, by state alone.
    static func remedy(_ state: CBManagerState) -> String {
        switch state {
        case .unsupported:
            "no Bluetooth adapter: plug one in or start bluetoothd"
        case .unauthorized:
            "access to Bluetooth is denied: \"bluectl doctor\" tells which permission is missing"
        case .poweredOff:
            "the Bluetooth adapter is off: \"bluetoothctl power on\", or \"rfkill unblock bluetooth\" if it is blocked"
        case .resetting:
            "the Bluetooth service went away"
        default:
            "the radio is not ready"
        }
    }
}
