import BluetoothBackend
import BluetoothValues

/// The security of a link.
package enum SecurityLevel: Hashable, Sendable {
    /// The link has no keys and no encryption.
    case plain
    /// Both sides have keys, but the link is not encrypted.
    case bonded
    /// The link is encrypted with an unauthenticated key.
    case encrypted
    /// The link is encrypted with a key that the users compared or that was exchanged out of band.
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
