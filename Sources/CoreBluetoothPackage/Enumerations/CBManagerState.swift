/// What can be done with the Bluetooth adapter.
///
/// Source: Apple, CBManagerState.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBManagerState: Int, Sendable {
    /// Not known yet; an update follows.
    case unknown = 0
    /// The link to the system's Bluetooth service was lost; an update follows.
    case resetting = 1
    /// There is no adapter that can do Bluetooth Low Energy, or no service that drives it.
    case unsupported = 2
    /// The process may not use Bluetooth.
    case unauthorized = 3
    /// The adapter is switched off.
    case poweredOff = 4
    /// The adapter can be used.
    case poweredOn = 5
    /// A value that a later version of the API may add; keeps a `default` in a client's `switch` reachable.
    @available(*, unavailable)
    case _other = -1
}

/// The older name of the central manager's states.
///
/// Source: Apple, CBCentralManagerState.
@available(*, deprecated, message: "Use CBManagerState instead")
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBCentralManagerState: Int, Sendable {
    /// See ``CBManagerState/unknown``.
    case unknown = 0
    /// See ``CBManagerState/resetting``.
    case resetting = 1
    /// See ``CBManagerState/unsupported``.
    case unsupported = 2
    /// See ``CBManagerState/unauthorized``.
    case unauthorized = 3
    /// See ``CBManagerState/poweredOff``.
    case poweredOff = 4
    /// See ``CBManagerState/poweredOn``.
    case poweredOn = 5
    /// A value that a later version of the API may add; keeps a `default` in a client's `switch` reachable.
    @available(*, unavailable)
    case _other = -1
}

/// The older name of the peripheral manager's states.
///
/// Source: Apple, CBPeripheralManagerState.
@available(*, deprecated, message: "Use CBManagerState instead")
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBPeripheralManagerState: Int, Sendable {
    /// See ``CBManagerState/unknown``.
    case unknown = 0
    /// See ``CBManagerState/resetting``.
    case resetting = 1
    /// See ``CBManagerState/unsupported``.
    case unsupported = 2
    /// See ``CBManagerState/unauthorized``.
    case unauthorized = 3
    /// See ``CBManagerState/poweredOff``.
    case poweredOff = 4
    /// See ``CBManagerState/poweredOn``.
    case poweredOn = 5
    /// A value that a later version of the API may add; keeps a `default` in a client's `switch` reachable.
    @available(*, unavailable)
    case _other = -1
}
