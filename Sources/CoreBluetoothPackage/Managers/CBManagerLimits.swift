import BluetoothBackend
import BluetoothSupport
import Synchronization

/// How much a manager keeps of what other devices send.
///
/// An extension of this package. ``CBManager/defaultLimits`` sets it for a process,
/// ``CBManagerOptionLimitsKey`` for one manager. See <doc:Limits>.
public struct CBManagerLimits: Hashable, Sendable {
    /// What becomes of notifications that a slow queue does not take.
    public enum NotificationOverflow: Hashable, Sendable {
        /// The peripheral with the most undelivered notifications loses its oldest ones.
        case dropOldest
        /// The peripheral with the most undelivered notifications loses them, and its connection:
        /// `didDisconnectPeripheral` with `CBError.outOfSpace`.
        case disconnect
    }

    /// How many peripherals out of reach are remembered, at least 1: of those that were connected to, and of the others.
    ///
    /// Managers of one adapter share the largest number of them. A scan without duplicates reports a device anew once so
    /// many others were heard since.
    public var rememberedPeripherals: Int
    /// How many events of a kind wait for the manager's queue, at least 1: scan reports, notifications, write commands,
    /// and changes that others make.
    public var undeliveredEvents: Int
    /// What becomes of notifications beyond ``undeliveredEvents``.
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

/// What a manager did not deliver, since its queue took events more slowly than they came.
///
/// An extension of this package. The numbers grow while the manager lives. See <doc:Limits>.
public struct CBDroppedEvents: Hashable, Sendable {
    /// Scan reports in whose place a newer one of the same device was delivered.
    public var mergedScanReports = 0
    /// Scan reports that were lost; a scan without duplicates may not report their devices again.
    public var scanReports = 0
    /// Notifications and indications that were lost.
    public var notifications = 0
    /// Writes without response that were lost, in a peripheral manager.
    public var writeCommands = 0
    /// Changes that later ones made void before they were delivered: of names, services, links and subscriptions, and
    /// requests and channels whose central has left.
    public var mergedChanges = 0
    /// New names, connection events and ATT MTUs that were lost, since too many devices had one.
    public var changes = 0

    /// Nothing was lost.
    public init() {}
}

extension CBManager {
    /// How much is kept by managers that are made from now on, where their options say nothing.
    ///
    /// Settable from any thread. An extension of this package.
    public static var defaultLimits: CBManagerLimits {
        get { limits.withLock { $0 } }
        set { limits.withLock { $0 = newValue } }
    }

    private static let limits = Lock(CBManagerLimits())
}

extension CBManagerLimits {
    /// The limits that a manager's options name, or the default ones.
    init(_ options: [String: Any]?) {
        self = option(CBManagerOptionLimitsKey, in: options) ?? CBManager.defaultLimits
    }
}
