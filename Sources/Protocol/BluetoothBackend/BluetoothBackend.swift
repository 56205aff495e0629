/// The common protocol of all backends that CoreBluetooth's classes drive.
///
/// Commands go down and events come up, both plain values, so that a backend can be wrapped by another that logs,
/// records, delays, drops or injects. A backend reports the events of its adapter; everything that Apple promises
/// beyond that (state gating, accumulation, identity, error domains, callback order) is the facade's task.
///
/// All members may be called from any thread and return at once.
public protocol BluetoothBackend: Sendable {
    /// A short lower-case name for logs and listings: "bluez", "emulator".
    var name: String { get }

    /// The time of this backend.
    var clock: any BackendClock { get }

    /// Whether this process may use Bluetooth; never prompts.
    func authorization() -> AuthorizationStatus

    /// Whether the backend supports a feature that not every backend supports.
    func supports(_ feature: BackendFeature) -> Bool

    /// Whether managers also announce that everything was sent, not only that a full queue has room again.
    ///
    /// The announcements are `peripheralIsReady(toSendWriteWithoutResponse:)` and
    /// `peripheralManagerIsReady(toUpdateSubscribers:)`.
    ///
    /// True by default. Read when a manager's state changes.
    var announcesSentBursts: Bool { get }

    /// Creates the central role for one manager; it delivers nothing before ``RoleBackend/activate(_:)``.
    func makeCentral(_ options: RoleOptions) -> any CentralBackend

    /// Creates the peripheral role for one manager; it delivers nothing before ``RoleBackend/activate(_:)``.
    func makePeripheral(_ options: RoleOptions) -> any PeripheralBackend

    /// Creates the pairing role; it delivers nothing before ``RoleBackend/activate(_:)``.
    func makePairing() -> any PairingBackend
}

extension BluetoothBackend {
    /// True, as on Apple's systems.
    public var announcesSentBursts: Bool { true }
}

/// A feature that only some backends support.
public enum BackendFeature: String, Hashable, Sendable, Codable, CaseIterable {
    /// Extended advertising is scanned for and connected to.
    case extendedScanAndConnect
    /// The peripheral role: local services and advertising.
    case peripheralRole
    /// L2CAP connection-oriented channels.
    case channels
    /// The signal strength of an open link can be read.
    case connectedRSSI
    /// The reason for a lost link is known.
    case disconnectReason
    /// Pairing requests can be answered by the app.
    case pairing
}

/// Whether this process may use Bluetooth.
///
/// Apple: `CBManagerAuthorization`.
public enum AuthorizationStatus: String, Hashable, Sendable, Codable {
    /// The user has not been asked yet.
    case notDetermined
    /// Forbidden by policy.
    case restricted
    /// Forbidden by the user or the bus.
    case denied
    /// Allowed.
    case allowed
}

/// The state of an adapter as a manager sees it.
///
/// Apple: `CBManagerState`.
public enum AdapterState: String, Hashable, Sendable, Codable, CaseIterable {
    /// Not known yet.
    case unknown
    /// The connection with the system's Bluetooth service was lost and is expected to return.
    case resetting
    /// No adapter is present, or it lacks the role.
    case unsupported
    /// This process may not use Bluetooth.
    case unauthorized
    /// The adapter is off.
    case poweredOff
    /// The adapter is on.
    case poweredOn
}

/// The options with which a central or a peripheral manager was created.
public struct RoleOptions: Hashable, Sendable, Codable {
    /// The adapter: a name such as `hci1`, an address, or an emulated host's name; nil selects the default.
    public var adapter: String?
    /// The app's restoration identifier, if it gave one.
    public var restoreIdentifier: String?
    /// The number of peers out of range that the host remembers, at least 1; the managers of a host share the largest
    /// number.
    public var rememberedPeers: Int

    /// The default of ``rememberedPeers``.
    public static var defaultRememberedPeers: Int { 16384 }

    /// Creates options.
    public init(
        adapter: String? = nil, restoreIdentifier: String? = nil, rememberedPeers: Int = Self.defaultRememberedPeers
    ) {
        self.adapter = adapter
        self.restoreIdentifier = restoreIdentifier
        self.rememberedPeers = rememberedPeers
    }
}

/// The backend of managers that name no backend, for one task and its child tasks.
package enum SelectedBackend {
    /// The backend; nil if the process's default applies.
    @TaskLocal package static var current: (any BluetoothBackend)?
}
