import BluetoothEmulator
import CoreBluetooth
import Foundation

/// What a peripheral manager advertises: all keys that it gave, and those that were added for it.
struct EmulatedAdvertisement {
    /// Another one each time that a manager begins to advertise.
    let number: Int
    /// Whether Apple's rule counts: name and services only.
    let followsApple: Bool
    /// What centrals get.
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

    /// Whether iOS would advertise a key.
    static func isAllowed(_ key: String) -> Bool {
        key == CBAdvertisementDataLocalNameKey || key == CBAdvertisementDataServiceUUIDsKey
    }

    /// The keys that iOS would leave out.
    static func disallowedKeys(of given: [String: Any]?) -> [String] {
        (given ?? [:]).keys.filter { !isAllowed($0) }.sorted()
    }

    /// What a central gets for a report over the air: all that was given, since packets have little room; where Apple's
    /// rule counts, what came.
    func report(of air: [String: Any]) -> [String: Any] { followsApple ? air : data }

    /// What the emulator's packets carry beside name and services.
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
