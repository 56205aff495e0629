// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The options of a peripheral manager and the keys of its restored state.
// Sources: Apple, Peripheral Manager Initialization Options, Peripheral Manager State Restoration Options.
// None of the strings behind the names is certain.

/// Whether the system shows an alert when Bluetooth is off: `Bool`.
///
/// Linux: accepted, without effect.
public let CBPeripheralManagerOptionShowPowerAlertKey = "kCBInitOptionShowPowerAlert"

/// The identifier under which the manager's state is restored: `String`.
public let CBPeripheralManagerOptionRestoreIdentifierKey = "kCBInitOptionRestoreIdentifier"

/// The services that were published: `[CBMutableService]`.
public let CBPeripheralManagerRestoredStateServicesKey = "kCBRestoredServices"

/// The data that was advertised: `[String: Any]`.
public let CBPeripheralManagerRestoredStateAdvertisementDataKey = "kCBRestoredAdvertisementData"
