// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BluetoothBackend
import BluetoothSupport
import Logging

// The keys of an advertisement dictionary. Source: Apple, Advertisement Data Retrieval Keys.

/// The local name: `String`.
public let CBAdvertisementDataLocalNameKey = "kCBAdvDataLocalName"

/// The transmit power: `NSNumber`, in dBm.
public let CBAdvertisementDataTxPowerLevelKey = "kCBAdvDataTxPowerLevel"

/// The advertised services: `[CBUUID]`.
public let CBAdvertisementDataServiceUUIDsKey = "kCBAdvDataServiceUUIDs"

/// The service data: `[CBUUID: Data]`.
public let CBAdvertisementDataServiceDataKey = "kCBAdvDataServiceData"

/// The manufacturer data: `Data`, beginning with the company identifier in two bytes, least significant first.
public let CBAdvertisementDataManufacturerDataKey = "kCBAdvDataManufacturerData"

/// The services of Apple's overflow area: `[CBUUID]`.
public let CBAdvertisementDataOverflowServiceUUIDsKey = "kCBAdvDataHashedServiceUUIDs"

/// Whether the device accepts connections: `NSNumber` of a `Bool`.
public let CBAdvertisementDataIsConnectable = "kCBAdvDataIsConnectable"

/// The services that the device looks for: `[CBUUID]`.
public let CBAdvertisementDataSolicitedServiceUUIDsKey = "kCBAdvDataSolicitedServiceUUIDs"

extension AdvertisementLayout {
    private static let honored = [CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey]

    /// Reads the dictionary of `startAdvertising`: keys other than those of name and UUIDs, and values of other types,
    /// are ignored with a log line (S118, S124).
    init(_ dictionary: [String: Any]?) {
        for key in (dictionary ?? [:]).keys.sorted() where !Self.honored.contains(key) {
            Logger(label: "CoreBluetooth").line(.warning, "advertisement key \(key) is ignored: it is not allowed")
        }
        let uuids: [CBUUID]? = option(CBAdvertisementDataServiceUUIDsKey, in: dictionary)
        self.init(
            localName: option(CBAdvertisementDataLocalNameKey, in: dictionary),
            serviceUUIDs: (uuids ?? []).map(\.bluetoothUUID))
    }
}
