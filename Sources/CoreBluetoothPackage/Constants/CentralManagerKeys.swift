// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The options of a central manager and the keys of its restored state.
// Sources: Apple, Central Manager Initialization Options, Peripheral Scanning Options, Peripheral Connection Options,
// Central Manager State Restoration Options. The strings behind the names marked so are not certain.

// MARK: Initialization

/// Whether the system shows an alert when Bluetooth is off: `Bool`.
///
/// Linux: accepted, without effect.
public let CBCentralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"

/// The identifier under which the manager's state is restored: `String`.
///
/// The string behind it is not certain.
public let CBCentralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"

/// Whether the app is to use devices for media: `Bool`.
///
/// Linux: accepted, without effect. The string behind it is not certain.
public let CBCentralManagerOptionDeviceAccessForMedia = "kCBInitOptionDeviceAccessForMedia"

/// How much the manager keeps of what other devices send: ``CBManagerLimits``.
///
/// An option of peripheral managers, too. An extension of this package.
public let CBManagerOptionLimitsKey = "CBManagerOptionLimits"

// MARK: Scanning

/// Whether every sighting of a device is reported: `Bool`, default false.
public let CBCentralManagerScanOptionAllowDuplicatesKey = "kCBScanOptionAllowDuplicates"

/// Report also devices that look for these services: `[CBUUID]`.
public let CBCentralManagerScanOptionSolicitedServiceUUIDsKey = "kCBScanOptionSolicitedServiceUUIDs"

// MARK: Connecting

/// Whether the system shows an alert on connection: `Bool`.
///
/// Linux: accepted, without effect.
public let CBConnectPeripheralOptionNotifyOnConnectionKey = "kCBConnectOptionNotifyOnConnection"

/// Whether the system shows an alert on disconnection: `Bool`.
///
/// Linux: accepted, without effect.
public let CBConnectPeripheralOptionNotifyOnDisconnectionKey = "kCBConnectOptionNotifyOnDisconnection"

/// Whether the system shows an alert on notifications: `Bool`.
///
/// Linux: accepted, without effect.
public let CBConnectPeripheralOptionNotifyOnNotificationKey = "kCBConnectOptionNotifyOnNotification"

/// How long the attempt is postponed: `NSNumber`, in seconds.
public let CBConnectPeripheralOptionStartDelayKey = "kCBConnectOptionStartDelay"

/// Whether the system may bring up the classic transport too: `Bool`.
///
/// Linux: accepted, without effect.
public let CBConnectPeripheralOptionEnableTransportBridgingKey = "kCBConnectOptionEnableTransportBridging"

/// Whether the Apple Notification Center Service is required: `Bool`.
///
/// Linux: accepted, without effect.
public let CBConnectPeripheralOptionRequiresANCS = "kCBConnectOptionRequiresANCS"

/// Whether the system connects again after an unexpected disconnection: `Bool`.
///
/// The string behind it is not certain.
public let CBConnectPeripheralOptionEnableAutoReconnect = "kCBConnectOptionEnableAutoReconnect"

// MARK: Restored state

/// The peripherals that were connected or connecting: `[CBPeripheral]`.
public let CBCentralManagerRestoredStatePeripheralsKey = "kCBRestoredPeripherals"

/// The services that were scanned for: `[CBUUID]`.
public let CBCentralManagerRestoredStateScanServicesKey = "kCBRestoredScanServices"

/// The options of the scan: `[String: Any]`.
///
/// The string behind it is not certain.
public let CBCentralManagerRestoredStateScanOptionsKey = "kCBRestoredScanOptions"
