#if os(Linux)
import BluetoothBackend

/// What a command asks of a link.
extension CentralCommand {
    /// The link that a command belongs to, if any.
    var link: LinkID? {
        switch self {
        case .readRSSI(let link, _), .discoverServices(let link, _, _), .discoverIncludedServices(let link, _, _, _),
            .discoverCharacteristics(let link, _, _, _), .discoverDescriptors(let link, _, _),
            .read(let link, _, _), .write(let link, _, _, _), .writeCommand(let link, _, _),
            .setNotifying(let link, _, _, _), .openChannel(let link, _, _):
            link
        default: nil
        }
    }

    /// What an answer echoes.
    var operation: OperationID? {
        switch self {
        case .connect(_, let operation, _), .readRSSI(_, let operation), .discoverServices(_, let operation, _),
            .discoverIncludedServices(_, let operation, _, _), .discoverCharacteristics(_, let operation, _, _),
            .discoverDescriptors(_, let operation, _), .read(_, let operation, _), .write(_, let operation, _, _),
            .setNotifying(_, let operation, _, _), .openChannel(_, let operation, _):
            operation
        default: nil
        }
    }

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
