import BluetoothEmulator
import CoreBluetooth
import Foundation

/// The advertisement of a peripheral manager: all given keys, and those that were added for it.
struct EmulatedAdvertisement {
    /// The number of the advertisement, which differs each time that a manager begins to advertise.
    let number: Int
    /// Whether Apple's rule applies: only name and services.
    let followsApple: Bool
    /// The dictionary that centrals receive.
    let data: [String: Any]

    init(_ given: [String: Any]?, number: Int, _ configuration: EmulatorConfiguration, txPower: () -> Int) {
        self.number = number
        followsApple = configuration.followsApple
        var data = given ?? [:]
        if configuration.autoGenerateAdvertisementFields, !followsApple {
            if data[CBAdvertisementDataIsConnectable] == nil {
                data[CBAdvertisementDataIsConnectable] = NSNumber(value: true)
            }
            if data[CBAdvertisementDataTxPowerLevelKey] == nil {
                data[CBAdvertisementDataTxPowerLevelKey] = NSNumber(value: txPower())
            }
        }
        self.data = data
    }

    /// The transmit powers that are added, in dBm.
    static let txPowers = -12...(-4)

    var localName: String? { data[CBAdvertisementDataLocalNameKey] as? String }

    /// Returns whether iOS would advertise a key.
    static func isAllowed(_ key: String) -> Bool {
        key == CBAdvertisementDataLocalNameKey || key == CBAdvertisementDataServiceUUIDsKey
    }

    /// Returns the keys that iOS would omit.
    static func disallowedKeys(of given: [String: Any]?) -> [String] {
        (given ?? [:]).keys.filter { !isAllowed($0) }.sorted()
    }

    /// Returns the dictionary that a central receives for a report over the air: everything that was given, since
    /// packets have little room; if Apple's rule applies, only the report.
    func report(of air: [String: Any]) -> [String: Any] { followsApple ? air : data }

    /// The contents of the emulator's packets besides name and services.
    var packet: AdvertisingData {
        guard !followsApple else { return AdvertisingData() }
        let serviceData = data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:]
        let solicited = data[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] ?? []
        let txPower = (data[CBAdvertisementDataTxPowerLevelKey] as? NSNumber)?.intValue
        return AdvertisingData(
            txPowerLevel: txPower.map { Int8(clamping: $0) },
            solicitedServices: solicited.map(\.backendUUID),
            serviceData: Dictionary(serviceData.map { ($0.key.backendUUID, $0.value) }) { $1 },
            manufacturerData: data[CBAdvertisementDataManufacturerDataKey] as? Data)
    }
}
