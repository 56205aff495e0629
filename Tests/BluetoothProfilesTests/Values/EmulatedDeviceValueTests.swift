import BluetoothBackend
import BluetoothProfiles
import Foundation
import Testing

@testable import BluetoothEmulator

/// The values of emulated devices, decoded by the types of the profiles.
@Suite struct EmulatedDeviceValueTests {
    @Test(arguments: [nil, false, true] as [Bool?], [nil, 0, 65_535] as [UInt16?])
    func heartRatesAreTheSame(contact: Bool?, energy: UInt16?) {
        for rate in [0, 60, 255, 256, 65_535] {
            for intervals in [[], [1024], [1024, 870, 1]] as [[UInt16]] {
                let value = HeartRateMeasurement(
                    rate: UInt16(rate), hasContact: contact, energyExpended: energy, intervals: intervals)
                let other = HeartRateHandler.measurement(
                    rate: rate, contact: contact, energy: energy, intervals: intervals)
                #expect(value.encoded == other)
            }
        }
    }

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
