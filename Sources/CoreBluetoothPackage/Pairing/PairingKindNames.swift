import BluetoothBackend

extension PairingQuestion {
    /// Without its number.
    var kindName: String {
        switch self {
        case .consent: "consent"
        case .confirm: "confirm"
        case .enterPasskey: "enterPasskey"
        case .display: "display"
        case .outOfBand: "outOfBand"
        }
    }
}

extension PairingAnswer {
    /// Without its number.
    var kindName: String {
        switch self {
        case .accept: "accept"
        case .reject: "reject"
        case .passkey: "passkey"
        }
    }
}
