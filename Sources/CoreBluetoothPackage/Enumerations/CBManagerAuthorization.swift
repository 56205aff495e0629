/// Whether the process may use Bluetooth.
///
/// Source: Apple, CBManagerAuthorization.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBManagerAuthorization: Int, Sendable {
    /// The user was not asked yet.
    case notDetermined = 0
    /// The process may not, and the user cannot change that.
    case restricted = 1
    /// The user refused.
    case denied = 2
    /// The process may.
    case allowedAlways = 3
    /// A value that a later version of the API may add; keeps a `default` in a client's `switch` reachable.
    @available(*, unavailable)
    case _other = -1
}

/// The older name of the peripheral manager's authorization.
///
/// Source: Apple, CBPeripheralManagerAuthorizationStatus.
@available(*, deprecated, message: "Use CBManagerAuthorization instead")
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable {
    /// See ``CBManagerAuthorization/notDetermined``.
    case notDetermined = 0
    /// See ``CBManagerAuthorization/restricted``.
    case restricted = 1
    /// See ``CBManagerAuthorization/denied``.
    case denied = 2
    /// See ``CBManagerAuthorization/allowedAlways``.
    case authorized = 3
    /// A value that a later version of the API may add; keeps a `default` in a client's `switch` reachable.
    @available(*, unavailable)
    case _other = -1
}
