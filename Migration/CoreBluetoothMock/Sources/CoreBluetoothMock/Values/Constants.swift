// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CoreBluetooth

// The keys of options, of restored states and of advertisements; each equals the one of CoreBluetooth.

// MARK: Central manager

/// Whether the system shows an alert when Bluetooth is off: `Bool`.
public let CBMCentralManagerOptionShowPowerAlertKey = CBCentralManagerOptionShowPowerAlertKey

/// The identifier under which the manager's state is restored: `String`.
public let CBMCentralManagerOptionRestoreIdentifierKey = CBCentralManagerOptionRestoreIdentifierKey

/// Whether every sighting of a device is reported: `Bool`, default false.
public let CBMCentralManagerScanOptionAllowDuplicatesKey = CBCentralManagerScanOptionAllowDuplicatesKey

/// The solicited services whose seekers are reported too: `[CBMUUID]`.
public let CBMCentralManagerScanOptionSolicitedServiceUUIDsKey = CBCentralManagerScanOptionSolicitedServiceUUIDsKey

/// The peripherals that were connected or connecting: `[CBMPeripheral]`.
public let CBMCentralManagerRestoredStatePeripheralsKey = CBCentralManagerRestoredStatePeripheralsKey

/// The services that were scanned for: `[CBMUUID]`.
public let CBMCentralManagerRestoredStateScanServicesKey = CBCentralManagerRestoredStateScanServicesKey

/// The options of the scan: `[String: Any]`.
public let CBMCentralManagerRestoredStateScanOptionsKey = CBCentralManagerRestoredStateScanOptionsKey

// MARK: Connecting

/// The delay of the attempt: `NSNumber`, in seconds.
public let CBMConnectPeripheralOptionStartDelayKey = CBConnectPeripheralOptionStartDelayKey

/// Whether the system shows an alert on connection: `Bool`.
public let CBMConnectPeripheralOptionNotifyOnConnectionKey = CBConnectPeripheralOptionNotifyOnConnectionKey

/// Whether the system shows an alert on disconnection: `Bool`.
public let CBMConnectPeripheralOptionNotifyOnDisconnectionKey = CBConnectPeripheralOptionNotifyOnDisconnectionKey

/// Whether the system shows an alert on notifications: `Bool`.
public let CBMConnectPeripheralOptionNotifyOnNotificationKey = CBConnectPeripheralOptionNotifyOnNotificationKey

/// Whether the system may bring up the classic transport too: `Bool`.
public let CBMConnectPeripheralOptionEnableTransportBridgingKey = CBConnectPeripheralOptionEnableTransportBridgingKey

/// Whether the Apple Notification Center Service is required: `Bool`.
public let CBMConnectPeripheralOptionRequiresANCS = CBConnectPeripheralOptionRequiresANCS

/// Whether the system connects again after an unexpected disconnection: `Bool`.
public let CBMConnectPeripheralOptionEnableAutoReconnect = CBConnectPeripheralOptionEnableAutoReconnect

// MARK: Advertisements

/// The local name: `String`.
public let CBMAdvertisementDataLocalNameKey = CBAdvertisementDataLocalNameKey

/// The advertised services: `[CBMUUID]`.
public let CBMAdvertisementDataServiceUUIDsKey = CBAdvertisementDataServiceUUIDsKey

/// The transmit power: `NSNumber`, in dBm.
public let CBMAdvertisementDataTxPowerLevelKey = CBAdvertisementDataTxPowerLevelKey

/// The service data: `[CBMUUID: Data]`.
public let CBMAdvertisementDataServiceDataKey = CBAdvertisementDataServiceDataKey

/// The manufacturer data: `Data`, beginning with the company identifier, least significant byte first.
public let CBMAdvertisementDataManufacturerDataKey = CBAdvertisementDataManufacturerDataKey

/// The services of Apple's overflow area: `[CBMUUID]`.
public let CBMAdvertisementDataOverflowServiceUUIDsKey = CBAdvertisementDataOverflowServiceUUIDsKey

/// The services that the device looks for: `[CBMUUID]`.
public let CBMAdvertisementDataSolicitedServiceUUIDsKey = CBAdvertisementDataSolicitedServiceUUIDsKey

/// Whether the device accepts connections: `NSNumber` of a `Bool`.
public let CBMAdvertisementDataIsConnectable = CBAdvertisementDataIsConnectable

// MARK: Peripheral manager

/// Whether the system shows an alert when Bluetooth is off: `Bool`.
public let CBMPeripheralManagerOptionShowPowerAlertKey = CBPeripheralManagerOptionShowPowerAlertKey

/// The identifier under which the manager's state is restored: `String`.
public let CBMPeripheralManagerOptionRestoreIdentifierKey = CBPeripheralManagerOptionRestoreIdentifierKey

/// The services that were published: `[CBMMutableService]`.
public let CBMPeripheralManagerRestoredStateServicesKey = CBPeripheralManagerRestoredStateServicesKey

/// The data that was advertised: `[String: Any]`.
public let CBMPeripheralManagerRestoredStateAdvertisementDataKey = CBPeripheralManagerRestoredStateAdvertisementDataKey
