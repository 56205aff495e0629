#if os(Linux)
import BluetoothBackend

/// What a command asks of a link.
extension CentralCommand {
    /// The attribute whose value or subscription it is about, if any.
    var attribute: AttributeID? {
        switch self {
        case .read(_, _, let attribute), .write(_, _, let attribute, _), .writeCommand(_, let attribute, _),
            .setNotifying(_, _, let attribute, _):
            attribute
        default: nil
        }
    }

    var isWriteCommand: Bool {
        if case .writeCommand = self { true } else { false }
    }

    var isDiscovery: Bool {
        switch self {
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors: true
        default: false
        }
    }

    /// The D-Bus method behind a command, for errors and logs.
    var member: String {
        switch self {
        case .read: "ReadValue"
        case .write, .writeCommand: "WriteValue"
        case .setNotifying(_, _, _, let enabled): enabled ? "StartNotify" : "StopNotify"
        default: "discovery"
        }
    }
}
#endif
