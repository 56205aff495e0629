#if os(Linux)
import BluetoothBackend

/// The properties of a command that determine its D-Bus calls.
extension CentralCommand {
    var isWriteCommand: Bool {
        if case .writeCommand = self { true } else { false }
    }

    var isDiscovery: Bool {
        if case .request(_, _, let request) = self { request.isDiscovery } else { false }
    }

    /// The D-Bus method behind a command, for errors and logs.
    var member: String {
        switch self {
        case .request(_, _, .read): "ReadValue"
        case .request(_, _, .write), .writeCommand: "WriteValue"
        case .request(_, _, .setNotifying(_, let enabled)): enabled ? "StartNotify" : "StopNotify"
        default: "discovery"
        }
    }
}
#endif
