import BluetoothValues

/// How far a link is secured.
enum LinkSecurity: Sendable {
    /// No keys, no encryption.
    case plain
    /// There are keys, but the link is not encrypted.
    case bonded
    /// Encrypted with a key that nobody compared.
    case encrypted
    /// Encrypted with a key that both users compared or that came out of band.
    case authenticated

    /// What an attribute that requires encryption answers; nil if it is served.
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
