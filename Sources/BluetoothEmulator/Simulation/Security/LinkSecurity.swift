import BluetoothBackend
import BluetoothValues

/// The encryption of a link, and the pairing under way on it.
struct LinkSecurity: Sendable {
    var level = SecurityLevel.plain
    var pairing: Pairing?
    /// A pairing timed out: no other may follow on this link.
    var isPairingBarred = false
}

/// The security of a link.
enum SecurityLevel: Sendable {
    /// No keys, no encryption.
    case plain
    /// Both sides have keys, but the link is not encrypted.
    case bonded
    /// Encrypted with an unauthenticated key.
    case encrypted
    /// Encrypted with a key that both users compared or that was exchanged out of band.
    case authenticated

    /// The error of an attribute that requires encryption; nil if it is served.
    ///
    /// Source: Core Specification, Vol 3, Part C, 10.3.1.
    var refusal: ATTCode? {
        switch self {
        case .plain: .insufficientAuthentication
        case .bonded: .insufficientEncryption
        case .encrypted, .authenticated: nil
        }
    }
}
