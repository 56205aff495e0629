package import BluetoothBackend

// The numbers of the Security Manager: Core Specification, Vol 3, Part H, 3.5.1, table 3.4.
extension PairingCapability {
    /// Creates a capability from its number; nil for reserved numbers.
    package init?(octet: UInt8) {
        switch octet {
        case 0: self = .displayOnly
        case 1: self = .displayYesNo
        case 2: self = .keyboardOnly
        case 3: self = .noInputNoOutput
        case 4: self = .keyboardDisplay
        default: return nil
        }
    }

    package var octet: UInt8 {
        switch self {
        case .displayOnly: 0
        case .displayYesNo: 1
        case .keyboardOnly: 2
        case .noInputNoOutput: 3
        case .keyboardDisplay: 4
        }
    }
}
