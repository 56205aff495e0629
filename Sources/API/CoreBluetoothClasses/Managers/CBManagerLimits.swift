import BluetoothBackend
import BluetoothSupport

/// The limits of a manager's data about other devices.
///
/// An extension of this package. ``CBManager/defaultLimits`` sets it for a process,
/// ``CBManagerOptionLimitsKey`` for one manager. See <doc:Limits>.
public struct CBManagerLimits: Hashable, Sendable {
    /// The treatment of notifications that a slow queue does not handle in time.
    public enum NotificationOverflow: Hashable, Sendable {
        /// The peripheral with the most undelivered notifications loses its oldest ones.
        case dropOldest
        /// The peripheral with the most undelivered notifications loses them, and its connection:
        /// `didDisconnectPeripheral` with `CBError.outOfSpace`.
        case disconnect
    }

    /// The number of peripherals out of range that are remembered, at least 1, counted apart for those that were
    /// connected.
    ///
    /// Managers of one adapter share the largest number of them. A scan without duplicates reports a device again after
    /// this number of other devices was heard.
    public var rememberedPeripherals: Int
    /// The number of events of a kind that wait for the manager's queue, at least 1: scan reports, notifications, write
    /// commands, and changes that others make.
    public var undeliveredEvents: Int
    /// The treatment of notifications beyond ``undeliveredEvents``.
    public var notificationOverflow: NotificationOverflow

    /// Collects the limits of a manager.
    public init(
        rememberedPeripherals: Int = 16384, undeliveredEvents: Int = 16384,
        notificationOverflow: NotificationOverflow = .dropOldest
    ) {
        self.rememberedPeripherals = rememberedPeripherals
        self.undeliveredEvents = undeliveredEvents
        self.notificationOverflow = notificationOverflow
    }
}

/// The number of events that a manager did not deliver, because its queue was slower than their arrival.
///
/// An extension of this package. The numbers grow while the manager lives. See <doc:Limits>.
public struct CBDroppedEvents: Hashable, Sendable {
    /// Scan reports that were replaced by a newer report of the same device.
    public var mergedScanReports = 0
    /// Scan reports that were lost; a scan without duplicates may not report their devices again.
    public var scanReports = 0
    /// Notifications and indications that were lost.
    public var notifications = 0
    /// Writes without response that were lost, in a peripheral manager.
    public var writeCommands = 0
    /// Changes of names, services, links and subscriptions that later ones made void before they were delivered, and
    /// requests and channels whose central has left.
    public var mergedChanges = 0
    /// New names, connection events and ATT MTUs that were lost, because too many devices had one.
    public var changes = 0

    /// Creates a value in which nothing was lost.
    public init() {}
}

extension CBManager {
    /// The limits of managers that are created from now on, unless their options contain limits.
    ///
    /// Settable from any thread. An extension of this package.
    public static var defaultLimits: CBManagerLimits {
        get { limits.withLock { $0 } }
        set { limits.withLock { $0 = newValue } }
    }

    private static let limits = Lock(CBManagerLimits())
}

extension CBManagerLimits {
    /// Reads the limits of a manager's options, or the default ones.
    init(_ options: [String: Any]?) {
        self = option(CBManagerOptionLimitsKey, in: options) ?? CBManager.defaultLimits
    }
}
