import BluetoothBackend
import BluetoothProfiles
import Foundation
import Testing

@testable import BluetoothEmulator

private typealias TypedDateTime = BluetoothProfiles.DateTime

/// The emulator encodes its devices' values by itself, so that each side proves the other.
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

    @Test(arguments: [36.6, -40, 0, 299.9, 0.05])
    func floatsAreTheSame(number: Double) throws {
        #expect(try MedicalFloat(number).encoded == ThermometerHandler.float(number))
    }

    @Test(arguments: [0, 951_782_400, 1_709_197_507, 4_102_444_799])
    func datesAreTheSame(seconds: Int) throws {
        let date = try #require(TypedDateTime(Date(timeIntervalSince1970: Double(seconds))))
        let other = BluetoothEmulator.DateTime(secondsSince1970: seconds)
        #expect(date.encoded == other.data)
        #expect(DayOfWeek(of: date).rawValue == other.dayOfWeek)
    }

    @Test func whatADeviceSaysOfItselfIsTheSame() {
        let system = DeviceInformation.SystemID(
            manufacturerIdentifier: 0x12_3456_789A, organizationallyUniqueIdentifier: 0xBC_DEF0)
        #expect(
            SystemID(manufacturerIdentifier: 0x12_3456_789A, organizationallyUniqueIdentifier: 0xBC_DEF0).encoded
                == system.data)
        let product = DeviceInformation.PlugAndPlayID(source: .usb, vendor: 1, product: 2, version: 0x0213)
        #expect(PnPID(source: .usb, vendor: 1, product: 2, version: 0x0213).encoded == product.data)
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
