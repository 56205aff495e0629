import BluetoothBackend
import BluetoothEmulator
import CoreBluetooth

/// The world of programs: two devices, and the services of the peripheral manager.
public enum ProgramWorld {
    /// All presets.
    static let configurations: [EmulatorConfiguration] = [.default, .instant, .slow, .unreliable]

    /// The characteristics of each device, by number.
    ///
    /// The values of 0 and 1 come only in answers, those of 2 and 3 only in notifications.
    static let characteristics: [BluetoothUUID] = ["AA00", "AA01", "AA02", "AA03", "AA04"]
    static let service: BluetoothUUID = "AA10"
    /// A service that is added and removed.
    static let passingService: BluetoothUUID = "AA20"

    static let passing = ServiceDescription(
        passingService, characteristics: [CharacteristicDescription("AA21", [.read, .notify], value: Data([7]))])

    static func device(_ index: Int) -> PeripheralDescription {
        let name = ["Alpha", "Beta"][index]
        return PeripheralDescription(
            name: name,
            advertising: [AdvertisingDescription(AdvertisingData(localName: name, services: [service]))],
            services: [
                ServiceDescription(
                    service,
                    characteristics: [
                        CharacteristicDescription(
                            "AA00", [.read, .write], value: Data((0..<60).map { UInt8($0) }), maximumLength: 512),
                        CharacteristicDescription("AA01", [.write, .writeWithoutResponse], maximumLength: 512),
                        CharacteristicDescription("AA02", [.notify]),
                        CharacteristicDescription("AA03", [.indicate]),
                        CharacteristicDescription("AA04", [.read, .writeWithoutResponse], value: Data([4])),
                    ])
            ],
            maximumMTU: [247, 23][index], connectionInterval: [nil, .milliseconds(30)][index])
    }

    /// Creates the service of the peripheral manager, with the same characteristics; the app answers requests.
    static func makeService() -> (CBMutableService, CBMutableCharacteristic) {
        let result = CBMutableService(type: CBUUID(string: "AA10"), primary: true)
        let values = CBMutableCharacteristic(
            type: CBUUID(string: "AA02"), properties: [.notify], value: nil, permissions: [])
        result.characteristics = [
            CBMutableCharacteristic(
                type: CBUUID(string: "AA00"), properties: [.read, .write], value: nil,
                permissions: [.readable, .writeable]),
            CBMutableCharacteristic(
                type: CBUUID(string: "AA01"), properties: [.write, .writeWithoutResponse], value: nil,
                permissions: .writeable),
            values,
            CBMutableCharacteristic(
                type: CBUUID(string: "AA04"), properties: .read, value: Data([4]), permissions: .readable),
        ]
        return (result, values)
    }
}
