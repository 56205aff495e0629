import BluetoothBackend
import Logging

extension AdvertisementLayout {
    private static let honoured = [CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey]

    /// Reads the dictionary of `startAdvertising`: other keys than those of name and UUIDs, and values of other types, are
    /// ignored with a log line (S118, S124).
    init(_ dictionary: [String: Any]?) {
        for key in (dictionary ?? [:]).keys.sorted() where !Self.honoured.contains(key) {
            Logger(label: "CoreBluetooth").warning("advertisement key \(key) is ignored: it is not allowed")
        }
        let uuids: [CBUUID]? = option(CBAdvertisementDataServiceUUIDsKey, in: dictionary)
        self.init(
            localName: option(CBAdvertisementDataLocalNameKey, in: dictionary),
            serviceUUIDs: (uuids ?? []).map(\.bluetoothUUID))
    }
}
