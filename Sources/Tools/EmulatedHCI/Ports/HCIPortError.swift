public import BluetoothEmulator

/// The reason why a port is not opened.
public enum HCIPortError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system refuses the port: another program has it, or the folder does not exist.
    case unavailable(HCIPortAddress, String)
    /// The world's host is invalid: its name is empty.
    case invalidHost(String)
    /// Managers of this process use the host.
    case hostInUse(String)
    /// The emulator's time is virtual.
    case virtualTime

    /// The reason as a sentence.
    public var description: String {
        switch self {
        case .unavailable(let address, let reason): "the port \(address) is not available: \(reason)"
        case .invalidHost(let reason): "the host is invalid: \(reason)"
        case .hostInUse(let name): "programs of this process use the host \"\(name)\"; give the port another one"
        case .virtualTime: "an emulator in virtual time cannot serve other processes; use real or scaled time"
        }
    }
}
