import BluetoothProfiles
import Foundation
import Testing

@Suite struct ReservedValueTests {
    struct Sample: CustomTestStringConvertible, Sendable {
        let uuid: UInt16
        let hex: String
        let message: String
        var testDescription: String { message }

        init(_ uuid: UInt16, _ hex: String, _ message: String) {
            self.uuid = uuid
            self.hex = hex
            self.message = message
        }
    }

    static let samples = [
        Sample(
            0x2A37, "01 48",
            "Heart Rate Measurement: too short: field Heart Rate Measurement Value needs 2 bytes, 1 left"),
        Sample(0x2A37, "08 48 01", "Heart Rate Measurement: too short: field Energy Expended needs 2 bytes, 1 left"),
        Sample(0x2A37, "10 48 01", "Heart Rate Measurement: too short: field RR-Interval needs 2 bytes, 1 left"),
        Sample(0x2A37, "", "Heart Rate Measurement: too short: field Flags needs 1 byte, 0 left"),
        Sample(0x2A38, "07", "Body Sensor Location: field Body Sensor Location has the reserved value 7"),
        Sample(0x2A39, "02", "Heart Rate Control Point: field Heart Rate Control Point has the reserved value 2"),
        Sample(0x2A19, "65", "Battery Level: field Battery Level has the reserved value 101"),
        Sample(0x2A19, "57 00", "Battery Level: 1 byte too long"),
        Sample(0x2A50, "03 00 00 00 00 00 00", "PnP ID: field Vendor ID Source has the reserved value 3"),
        Sample(0x2A29, "FF FE", "String: field String is not UTF-8"),
        Sample(
            0x2A1C, "00 01 00 80 00",
            "Temperature Measurement: field Temperature Measurement Value has the reserved value 8388609"),
        Sample(
            0x2A1C, "04 6C 01 00 FF 0A", "Temperature Measurement: field Temperature Type has the reserved value 10"),
        Sample(0x2A1D, "00", "Temperature Type: field Temperature Type has the reserved value 0"),
        Sample(0x2A08, "E8 07 0D 1D 09 05 07", "Date Time: field Month has the reserved value 13"),
        Sample(0x2A08, "2D 06 01 01 00 00 00", "Date Time: field Year has the reserved value 1581"),
        Sample(0x2A2B, "E8 07 02 1D 09 05 07 08 00 00", "Current Time: field Day Of Week has the reserved value 8"),
        Sample(0x2A0F, "39 00", "Local Time Information: field Time Zone has the reserved value 57"),
        Sample(0x2A0F, "00 01", "Local Time Information: field DST Offset has the reserved value 1"),
        Sample(0x2A14, "08 00 00 00", "Reference Time Information: field Time Source has the reserved value 8"),
        Sample(0x2A14, "01 00 00 18", "Reference Time Information: field Hours Since Update has the reserved value 24"),
        Sample(0x2A5B, "01 0A", "CSC Measurement: too short: field Cumulative Wheel Revolutions needs 4 bytes, 1 left"),
        Sample(
            0x2A53, "01 80 02 50", "RSC Measurement: too short: field Instantaneous Stride Length needs 2 bytes, 0 left"
        ),
        Sample(0x2A5D, "11", "Sensor Location: field Sensor Location has the reserved value 17"),
        Sample(0x2A6E, "4C 95", "Temperature: field Temperature has the reserved value -27316"),
        Sample(0x2A6F, "11 27", "Humidity: field Humidity has the reserved value 10001"),
        Sample(0x2A71, "A0 8C", "True Wind Direction: field True Wind Direction has the reserved value 36000"),
        Sample(0x2AA3, "0A", "Barometric Pressure Trend: field Barometric Pressure Trend has the reserved value 10"),
        Sample(0x2BFF, "01 41", "UDI for Medical Devices: too short: field UDI Label needs 2 bytes, 1 left"),
        Sample(0x2BFF, "08 FF 00", "UDI for Medical Devices: field UDI Authority is not UTF-8"),
        Sample(0x290B, "02", "ES Configuration: field ES Configuration has the reserved value 2"),
        Sample(0x290D, "0A", "ES Trigger Setting: field Condition has the reserved value 10"),
        Sample(0x290D, "01 3C 00", "ES Trigger Setting: too short: field Operand needs 3 bytes, 2 left"),
        Sample(0x2A06, "03", "Alert Level: field Alert Level has the reserved value 3"),
        Sample(0x2A07, "15", "Tx Power Level: field Tx Power Level has the reserved value 21"),
    ]

    @Test(arguments: samples)
    func anErrorNamesTheValueTheFieldAndWhatIsWrong(sample: Sample) throws {
        let type = try #require(StandardValues.type(of: sample.uuid))
        func decode<Value: GATTValue>(_ type: Value.Type) throws -> Value {
            try type.init(decoding: Data(hex: sample.hex))
        }
        let error = #expect(throws: GATTValueError.self) { _ = try decode(type) }
        #expect(error?.description == sample.message)
    }

    @Test(arguments: ["00 48 FF", "E0 48", "E0 48 01 02 03"])
    func flagsAndBytesOfALaterVersionAreIgnored(hex: String) throws {
        #expect(try HeartRateMeasurement(decoding: Data(hex: hex)) == HeartRateMeasurement(rate: 72))
    }

    @Test func aTextMayEndAsInC() throws {
        #expect(try String(decoding: Data("Maker\0".utf8)) == "Maker")
    }
}
