import BluetoothBackend
public import Foundation

/// The superclass of central and peripheral managers.
///
/// Source: Apple, CBManager.
open class CBManager: NSObject {
    /// Creates a manager of this module.
    init(ofModule: Void) { super.init() }

    /// The state of the adapter as the delegate knows it.
    ///
    /// Readable from any thread; changes on the manager's queue.
    open var state: CBManagerState { .unknown }

    /// Whether this process may use Bluetooth, by the backend that a manager created here and now would get; never
    /// prompts.
    ///
    /// On Linux `.allowedAlways`, unless the bus refuses access.
    open class var authorization: CBManagerAuthorization {
        CBManagerAuthorization(BackendResolver.backend().authorization())
    }

    /// The older form of the static property.
    @available(*, deprecated, message: "Use the static property of the same name instead")
    open var authorization: CBManagerAuthorization { Self.authorization }

    /// `<CBCentralManager: 0x1234>`.
    open override var description: String { describe(self) }
}

/// The state of the Bluetooth adapter.
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
    /// The machine has no adapter that supports Bluetooth Low Energy, or no service that drives it.
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

/// Whether the process may use Bluetooth.
///
/// Source: Apple, CBManagerAuthorization.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CBManagerAuthorization: Int, Sendable {
    /// The user was not asked yet.
    case notDetermined = 0
    /// The process may not use Bluetooth, and the user cannot change that.
    case restricted = 1
    /// The user refused.
    case denied = 2
    /// The process may use Bluetooth.
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

/// The conversion of a backend's values to Apple's types.
extension CBManagerState {
    init(_ state: AdapterState) {
        switch state {
        case .unknown: self = .unknown
        case .resetting: self = .resetting
        case .unsupported: self = .unsupported
        case .unauthorized: self = .unauthorized
        case .poweredOff: self = .poweredOff
        case .poweredOn: self = .poweredOn
        }
    }
}

extension CBManagerAuthorization {
    init(_ status: AuthorizationStatus) {
        switch status {
        case .notDetermined: self = .notDetermined
        case .restricted: self = .restricted
        case .denied: self = .denied
        case .allowed: self = .allowedAlways
        }
    }
}

extension ConnectionLatency {
    init(_ latency: CBPeripheralManagerConnectionLatency) {
        switch latency {
        case .low: self = .low
        case .medium: self = .medium
        case .high: self = .high
        }
    }
}
