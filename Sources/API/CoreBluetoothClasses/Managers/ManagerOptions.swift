// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BluetoothBackend
import BluetoothSupport
import Foundation
import Logging

// The options of a central manager and the keys of its restored state. Sources: Apple, Central Manager Initialization
// Options, Peripheral Scanning Options, Peripheral Connection Options, Central Manager State Restoration Options. The
// strings behind the names marked so are not certain.

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

/// The limits of the manager's data about other devices: ``CBManagerLimits``.
///
/// An option of peripheral managers, too. An extension of this package.
public let CBManagerOptionLimitsKey = "CBManagerOptionLimits"

// MARK: Scanning

/// Whether every sighting of a device is reported: `Bool`, default false.
public let CBCentralManagerScanOptionAllowDuplicatesKey = "kCBScanOptionAllowDuplicates"

/// The solicited services whose seekers are reported too: `[CBUUID]`.
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

/// The delay of the attempt: `NSNumber`, in seconds.
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

/// The conversion of option dictionaries to values; a value of the wrong type is ignored with a log line.
extension RoleOptions {
    /// - Parameter restoreKey: The key of the identifier for restoration.
    init(_ options: [String: Any]?, restoreKey: String) {
        self.init(
            adapter: SelectionEnvironment.adapterOfProcess, restoreIdentifier: option(restoreKey, in: options),
            rememberedPeers: CBManagerLimits(options).rememberedPeripherals)
    }
}

extension ScanParameters {
    init(services: [CBUUID]?, options: [String: Any]?) {
        let solicited: [CBUUID]? = option(CBCentralManagerScanOptionSolicitedServiceUUIDsKey, in: options)
        self.init(
            services: services.flatMap { $0.isEmpty ? nil : $0.map(\.bluetoothUUID) },
            solicitedServices: solicited?.map(\.bluetoothUUID) ?? [],
            allowDuplicates: flag(CBCentralManagerScanOptionAllowDuplicatesKey, in: options))
    }
}

extension ConnectOptions {
    init(_ options: [String: Any]?) {
        self.init(autoReconnect: flag(CBConnectPeripheralOptionEnableAutoReconnect, in: options))
    }
}

extension ConnectionEventFilter {
    init(_ options: [CBConnectionEventMatchingOption: Any]) {
        let texts = Dictionary(uniqueKeysWithValues: options.map { ($0.key.rawValue, $0.value) })
        let services: [CBUUID]? = option(CBConnectionEventMatchingOption.serviceUUIDs.rawValue, in: texts)
        let peers: [UUID]? = option(CBConnectionEventMatchingOption.peripheralUUIDs.rawValue, in: texts)
        let wanted = services?.map(\.bluetoothUUID) ?? []
        if wanted.count > Self.mostServices {
            Logger(label: "CoreBluetooth").line(
                .warning,
                "connection events: \(wanted.count) services are more than \(Self.mostServices); the rest is ignored")
        }
        self.init(services: Array(wanted.prefix(Self.mostServices)), peers: peers?.map { PeerID($0) } ?? [])
    }

    /// The largest number of services in a registration for connection events (S155).
    private static let mostServices = 4
}

/// Returns the start delay in seconds, at least 0 (S50).
func startDelay(in options: [String: Any]?) -> Duration {
    guard let number = number(CBConnectPeripheralOptionStartDelayKey, in: options) else { return .zero }
    let seconds = number.doubleValue
    guard seconds.isFinite, seconds >= 0, seconds < 1e9 else {
        logIgnored(CBConnectPeripheralOptionStartDelayKey, number)
        return .zero
    }
    return .seconds(seconds)
}

/// Returns the value of a key; a value of another type is ignored with a log line.
func option<Value>(_ key: String, in options: [String: Any]?) -> Value? {
    guard let any = options?[key] else { return nil }
    guard let value = any as? Value else {
        logIgnored(key, any)
        return nil
    }
    return value
}

private func flag(_ key: String, in options: [String: Any]?) -> Bool {
    number(key, in: options)?.boolValue ?? false
}

private func number(_ key: String, in options: [String: Any]?) -> NSNumber? {
    switch options?[key] {
    case nil: return nil
    case let number as NSNumber: return number
    case let bool as Bool: return NSNumber(value: bool)
    case let integer as any BinaryInteger: return NSNumber(value: Int(clamping: integer))
    case let real as Double: return NSNumber(value: real)
    case let other?:
        logIgnored(key, other)
        return nil
    }
}

private func logIgnored(_ key: String, _ value: Any) {
    Logger(label: "CoreBluetooth").line(.warning, "option \(key) is ignored: it cannot be a \(type(of: value))")
}
