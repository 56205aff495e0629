import BluetoothBackend
import BluetoothEmulator
import BluetoothProfiles
import Foundation
import Testing

/// The values of emulated devices, decoded by the types of the profiles.
@Suite struct EmulatedDeviceValueTests {
    @Test(arguments: [
        PeripheralDescription.battery, .heartRateMonitor, .healthThermometer, .cyclingSpeedAndCadence,
        .deviceInformation,
    ])
    func everyStandardValueOfADeviceIsValid(description: PeripheralDescription) throws {
        var checked = 0
        for characteristic in description.services.flatMap(\.characteristics) {
            guard let type = characteristic.uuid.bits16.flatMap({ StandardValues.type(of: $0) }),
                !characteristic.value.isEmpty
            else { continue }
            let value = characteristic.value
            func encodedAgain<Value: GATTValue>(_ type: Value.Type) throws -> Data {
                try type.init(decoding: value).encoded
            }
            #expect(try encodedAgain(type) == value)
            checked += 1
        }
        #expect(checked > 0)
    }
}
