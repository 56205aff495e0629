#if os(Linux)
import BluetoothDBus

/// The reason why a request of a device was refused.
enum Refusal: Hashable, Sendable {
    /// It was for a service of this computer, by UUID.
    case service(String)
    /// It was for a PIN code of classic Bluetooth.
    case pinCode
    /// It was for a pairing that nothing in this process needs.
    case notNeeded
    /// It was for a pairing that neither an agent nor a setting accepted.
    case noConsent
    /// It was for a pairing in which a person must read or type a number.
    case noNumber

    /// The line for the log, with the remedy.
    ///
    /// - Parameter device: The text for the device in the log.
    func text(about device: String) -> String {
        switch self {
        case .service(let uuid):
            "\(device) asked for this computer's service \(uuid) and was refused: this library authorizes none. "
                + "An agent of the system does (\"bluetoothctl\", \"default-agent\"), or \"bluetoothctl trust\""
        case .pinCode:
            "\(device) asked for a PIN code of classic Bluetooth and was refused: pair it with \"bluetoothctl pair\""
        case .notNeeded:
            "\(device) asked to pair and was refused: no connection of this process, and nothing encrypted that it "
                + "publishes, needs that. To pair it with this computer, use \"bluetoothctl pair\""
        case .noConsent:
            "\(device) asked to pair and was refused, since no one was there to agree: make a CBPairingAgent, run an agent "
                + "of the system such as a desktop's, set BlueZConfiguration.acceptsJustWorksPairing, or run the program "
                + "with COREBLUETOOTH_PAIRING=just-works"
        case .noNumber:
            "\(device) asked to pair with a number and was refused, since no one was there to read or type it: make a "
                + "CBPairingAgent, run an agent of the system such as a desktop's, or run the program with "
                + "COREBLUETOOTH_PAIRING=passkey=NNNNNN"
        }
    }
}

/// A refusal of a device's request that the log contains.
struct LoggedRefusal: Hashable, Sendable {
    let refusal: Refusal
    let device: ObjectPath
}
#endif
