import BluetoothBackend
import Foundation
import Logging

/// Option dictionaries become values at the edge. What has the wrong type is ignored with a log line.
extension CentralOptions {
    init(_ options: [String: Any]?) {
        self.init(
            adapter: SelectionEnvironment.process.adapter,
            restoreIdentifier: option(CBCentralManagerOptionRestoreIdentifierKey, in: options),
            rememberedPeers: CBManagerLimits(options).rememberedPeripherals)
    }
}

extension PeripheralOptions {
    init(_ options: [String: Any]?) {
        self.init(
            adapter: SelectionEnvironment.process.adapter,
            restoreIdentifier: option(CBPeripheralManagerOptionRestoreIdentifierKey, in: options),
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
            Logger(label: "CoreBluetooth").warning(
                "connection events: \(wanted.count) services are more than \(Self.mostServices); the rest is ignored")
        }
        self.init(services: Array(wanted.prefix(Self.mostServices)), peers: peers?.map { PeerID($0) } ?? [])
    }

    /// S155.
    private static let mostServices = 4
}

/// S50: seconds, at least 0.
func startDelay(in options: [String: Any]?) -> Duration {
    guard let number = number(CBConnectPeripheralOptionStartDelayKey, in: options) else { return .zero }
    let seconds = number.doubleValue
    guard seconds.isFinite, seconds >= 0, seconds < 1e9 else {
        logIgnored(CBConnectPeripheralOptionStartDelayKey, number)
        return .zero
    }
    return .seconds(seconds)
}

/// The value of a key; one of another type is ignored with a log line.
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
    Logger(label: "CoreBluetooth").warning("option \(key) is ignored: it cannot be a \(type(of: value))")
}
