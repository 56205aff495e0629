import AsyncBluetooth
import BluetoothProfiles
import CoreBluetooth
import Foundation
import Testing

/// Beacons and sensors, by the test vectors of their specifications.
@Suite struct AdvertisedValueTests {
    private func manufacturer(_ hex: String) -> [AdvertisedValue] {
        AdvertisedValue.values(serviceData: [:], manufacturerData: Data(digits: hex))
    }

    private func service(_ uuid: String, _ hex: String) -> [AdvertisedValue] {
        AdvertisedValue.values(serviceData: [CBUUID(string: uuid): Data(digits: hex)], manufacturerData: nil)
    }

    // MARK: Ruuvi

    /// Source: Ruuvi, data formats 3, 5 and 6, "Test vectors"; the address of the maximum of format 6 is that of its
    /// bytes.
    @Test(arguments: [
        (
            "03291A1ECE1EFC18F94202CA0B53",
            "temperature 26.300 °C, humidity 20.5000 %, pressure 1027.66 hPa, acceleration x -1.000 g, "
                + "acceleration y -1.726 g, acceleration z 0.714 g, battery 2899 mV"
        ),
        (
            "03FF7F63FFFF7FFF7FFF7FFFFFFF",
            "temperature 127.990 °C, humidity 127.5000 %, pressure 1155.35 hPa, acceleration x 32.767 g, "
                + "acceleration y 32.767 g, acceleration z 32.767 g, battery 65535 mV"
        ),
        (
            "0300FF6300008001800180010000",
            "temperature -127.990 °C, humidity 0.0000 %, pressure 500.00 hPa, acceleration x -32.767 g, "
                + "acceleration y -32.767 g, acceleration z -32.767 g, battery 0 mV"
        ),
        (
            "0512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F",
            "temperature 24.300 °C, humidity 53.4900 %, pressure 1000.44 hPa, acceleration x 0.004 g, "
                + "acceleration y -0.004 g, acceleration z 1.036 g, battery 2977 mV, tx power 4 dBm, movements 66, "
                + "sequence 205, address CB:B8:33:4C:88:4F"
        ),
        (
            "057FFFFFFEFFFE7FFF7FFF7FFFFFDEFEFFFECBB8334C884F",
            "temperature 163.835 °C, humidity 163.8350 %, pressure 1155.34 hPa, acceleration x 32.767 g, "
                + "acceleration y 32.767 g, acceleration z 32.767 g, battery 3646 mV, tx power 20 dBm, movements 254, "
                + "sequence 65534, address CB:B8:33:4C:88:4F"
        ),
        (
            "058001000000008001800180010000000000CBB8334C884F",
            "temperature -163.835 °C, humidity 0.0000 %, pressure 500.00 hPa, acceleration x -32.767 g, "
                + "acceleration y -32.767 g, acceleration z -32.767 g, battery 1600 mV, tx power -40 dBm, movements 0, "
                + "sequence 0, address CB:B8:33:4C:88:4F"
        ),
        ("058000FFFFFFFF800080008000FFFFFFFFFFFFFFFFFFFFFF", ""),
        (
            "06170C5668C79E007000C90501D9FFCD004C884F",
            "temperature 29.500 °C, humidity 55.3000 %, pressure 1011.02 hPa, PM2.5 11.2 µg/m³, CO2 201 ppm, VOC 10, "
                + "NOX 2, luminosity 13026.67 lx, calibrating no, sequence 205, address 4C:88:4F"
        ),
        (
            "067FFF9C40FFFE27109C40FAFAFEFFFF074C8F4F",
            "temperature 163.835 °C, humidity 100.0000 %, pressure 1155.34 hPa, PM2.5 1000.0 µg/m³, CO2 40000 ppm, "
                + "VOC 500, NOX 500, luminosity 65535.00 lx, calibrating yes, sequence 255, address 4C:8F:4F"
        ),
        (
            "0680010000000000000000000000FF00004C884F",
            "temperature -163.835 °C, humidity 0.0000 %, pressure 500.00 hPa, PM2.5 0.0 µg/m³, CO2 0 ppm, VOC 0, NOX 0, "
                + "luminosity 0.00 lx, calibrating no, sequence 0, address 4C:88:4F"
        ),
        ("068000FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", "calibrating yes, sequence 255"),
    ])
    func ruuviFormatsAreDecoded(hex: String, text: String) throws {
        let data = Data(digits: "9904" + hex)
        let value = try RuuviMeasurement(decoding: data)
        #expect(value.description == text)
        #expect(value.encoded == data)
        #expect(manufacturer("9904" + hex) == [.ruuvi(value)])
    }

    @Test func aMeasurementHasItsNumbersInTheirUnits() throws {
        let value = try RuuviMeasurement(decoding: Data(digits: "99040512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F"))
        #expect(value.temperature == 24.3 && value.humidity == 53.49 && value.pressure == 100_044)
        #expect(value.acceleration.map { [$0.x, $0.y, $0.z] } == [4, -4, 1036])
        #expect(value.carbonDioxide == nil && value.luminosity == nil && value.format == .rawV2)
    }

    // MARK: Eddystone

    /// Source: Google, Eddystone-UID, -URL, -TLM and -EID, their tables; https://goo.gl/Aq18zF is Eddystone-URL's
    /// example.
    @Test(arguments: [
        (
            "00EE8B0CA750095477CB3E770011223344550000",
            "namespace 8B0CA750095477CB3E77, instance 001122334455, power at 0 m -18 dBm"
        ),
        ("1012" + "03676F6F2E676C2F417131387A46", "url https://goo.gl/Aq18zF, power at 0 m 18 dBm"),
        ("10EE" + "00676F6F676C6507", "url http://www.google.com, power at 0 m -18 dBm"),
        (
            "2000" + "0BB8" + "1580" + "0000000A" + "00000064",
            "battery 3000 mV, temperature 21.50 °C, advertisements 10, uptime 10.0 s"
        ),
        ("2000" + "0000" + "8000" + "00000000" + "00000000", "advertisements 0, uptime 0.0 s"),
        ("2001" + "000102030405060708090A0B" + "1234" + "5678", "encrypted telemetry 000102030405060708090A0B"),
        ("30F4" + "0102030405060708", "ephemeral identifier 0102030405060708, power at 0 m -12 dBm"),
    ])
    func eddystoneFramesAreDecoded(hex: String, text: String) throws {
        let value = try EddystoneFrame(decoding: Data(digits: hex))
        #expect(value.description == text)
        #expect(value.encoded == Data(digits: hex))
        #expect(service("FEAA", hex) == [.eddystone(value)])
    }

    @Test func earlyBeaconsLeaveTheReservedBytesOut() throws {
        let short = try EddystoneFrame(decoding: Data(digits: "00EE8B0CA750095477CB3E77001122334455"))
        #expect(short.encoded.count == 20)
    }

    @Test func aURLIsCompressedByTheLongestPrefixAndEnding() throws {
        let url = try #require(EddystoneURL("https://www.example.com/a.org"))
        #expect(url.encoded == Data(digits: "01" + "6578616D706C6500" + "6108"))
        #expect(try EddystoneURL(decoding: url.encoded).text == "https://www.example.com/a.org")
        #expect(EddystoneURL("ftp://example.com") == nil && EddystoneURL("https://ä.de") == nil)
    }

    // MARK: iBeacon

    /// Source: Apple, "Proximity Beacon Specification", R1, table of the advertisement.
    @Test func aBeaconIsDecoded() throws {
        let hex = "4C000215" + "E2C56DB5DFFB48D2B060D0F5A71096E0" + "0001" + "0102" + "C5"
        let value = try IBeacon(decoding: Data(digits: hex))
        #expect(value.uuid.uuidString == "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0")
        #expect(value.major == 1 && value.minor == 0x0102 && value.measuredPower == -59)
        #expect(value.encoded == Data(digits: hex))
        #expect(manufacturer(hex) == [.iBeacon(value)])
        let same = IBeacon(uuid: value.uuid, major: 1, minor: 258, measuredPower: -59)
        #expect(same == value)
        #expect(manufacturer(hex).first?.description.hasPrefix("iBeacon: uuid E2C56DB5-") == true)
    }

    // MARK: BTHome

    /// Source: BTHome, "Format", the examples of its tables.
    @Test(arguments: [
        ("0009", "packet 9"), ("0161", "battery 97 %"), ("02CA09", "temperature 25.06 °C"),
        ("451101", "temperature 27.3 °C"), ("57EA", "temperature -22 °C"), ("58EA", "temperature -7.70 °C"),
        ("03BF13", "humidity 50.55 %"), ("2E23", "humidity 35 %"), ("04138A01", "pressure 1008.83 hPa"),
        ("05138A14", "illuminance 13460.67 lx"), ("065E1F", "mass 80.30 kg"), ("073E1D", "mass 74.86 lb"),
        ("08CA06", "dew point 17.38 °C"), ("0960", "count 96"), ("3D0960", "count 24585"),
        ("3E2A2C0960", "count 1611213866"), ("59EA", "count -22"), ("5AEAEA", "count -5398"),
        ("5BEA0234EA", "count -365690134"), ("0A138A14", "energy 1346.067 kWh"),
        ("4D12138A14", "energy 344593.170 kWh"),
        ("0B021B00", "power 69.14 W"), ("0C020C", "voltage 3.074 V"), ("4A020C", "voltage 307.4 V"),
        ("0D120C", "PM2.5 3090 µg/m³"), ("0E021C", "PM10 7170 µg/m³"), ("12E204", "CO2 1250 ppm"),
        ("133301", "TVOC 307 µg/m³"), ("14020C", "moisture 30.74 %"), ("2F23", "moisture 35 %"),
        ("3F020C", "rotation 307.4 °"), ("400C00", "distance 12 mm"), ("414E00", "distance 7.8 m"),
        ("424E3400", "duration 13.390 s"), ("434E34", "current 13.390 A"), ("5D02EA", "current -5.630 A"),
        ("444E34", "speed 133.90 m/s"), ("4632", "UV index 5.0"), ("478756", "volume 2215.1 l"),
        ("48DC87", "volume 34780 ml"), ("49DC87", "volume flow rate 34.780 m³/h"), ("4B138A14", "gas 1346.067 m³"),
        ("4C41018A01", "gas 25821.505 m³"), ("4E87562A01", "volume 19551.879 l"), ("4F87562A01", "water 19551.879 l"),
        ("505D396164", "time 1684093277 s since 1970"), ("518756", "acceleration 22.151 m/s²"),
        ("528756", "gyroscope 22.151 °/s"), ("530C48656C6C6F20576F726C6421", "text Hello World!"),
        ("540C48656C6C6F20576F726C6421", "raw 48656C6C6F20576F726C6421"), ("5587562A01", "volume storage 19551.879 l"),
        ("56E803", "conductivity 1000 µS/cm"), ("3A01", "button press"), ("3A80", "button hold press"),
        ("3C0103", "dimmer rotate left 3"), ("3C020A", "dimmer rotate right 10"), ("1A01", "door open yes"),
        ("2100", "motion no"), ("F00100", "device type 1"), ("F100010204", "firmware version 4.2.1.0"),
        ("F1000102FF", "firmware version 255.2.1.0"), ("F2000106", "firmware version 6.1.0"),
    ])
    func bthomeObjectsAreDecoded(hex: String, text: String) throws {
        let data = Data(digits: "40" + hex)
        let value = try BTHomeAdvertisement(decoding: data)
        #expect(value.description == text)
        #expect(value.encoded == data)
        #expect(service("FCD2", "40" + hex) == [.btHome(value)])
    }

    @Test func objectsFollowOneAnother() throws {
        let value = try BTHomeAdvertisement(decoding: Data(digits: "44" + "02CA09" + "02CA0A" + "03BF13"))
        #expect(value.isTriggered && value.measurements.count == 3)
        #expect(value.measurements[0].value == .number(25.06))
        let trigger = BTHomeAdvertisement(
            [try #require(BTHomeMeasurement(object: 0x02, bytes: Data([0xCA, 0x09])))], isTriggered: true)
        #expect(trigger.encoded == Data(digits: "4402CA09"))
        #expect(BTHomeMeasurement(object: 0x02, bytes: Data([1])) == nil)
        #expect(BTHomeMeasurement(object: 0xEE, bytes: Data([1])) == nil)
    }

    @Test func whatFollowsAnUnknownObjectIsKeptAsBytes() throws {
        let value = try BTHomeAdvertisement(decoding: Data(digits: "40" + "0161" + "EE0102"))
        #expect(value.measurements.count == 1 && value.unknown == Data(digits: "EE0102"))
        #expect(value.encoded == Data(digits: "400161EE0102"))
    }

    @Test func encryptedObjectsAreNotGuessed() throws {
        let value = try BTHomeAdvertisement(decoding: Data(digits: "41A47266C95F730011223378237214"))
        #expect(value.description == "encrypted yes" && value.measurements.isEmpty)
        #expect(value.encoded == Data(digits: "41A47266C95F730011223378237214"))
    }

    // MARK: Strangers

    @Test(arguments: [
        "", "4C", "4C00", "4C000215", "4C000216" + String(repeating: "00", count: 21), "9904", "990405",
        "990407" + String(repeating: "00", count: 23), "990405" + String(repeating: "00", count: 22),
        "990405" + String(repeating: "00", count: 24),
    ])
    func otherManufacturerDataAreNoValue(hex: String) { #expect(manufacturer(hex) == []) }

    @Test(arguments: [
        ("FCD2", ""), ("FCD2", "20"), ("FCD2", "4002"), ("FCD2", "4002CA"), ("FCD2", "4053FF41"), ("FEAA", ""),
        ("FEAA", "10"), ("FEAA", "1000"), ("FEAA", "100004"), ("FEAA", "10000020"), ("FEAA", "2002"), ("FEAA", "40"),
        ("FEAA", "30F401020304050607"), ("180F", "40"),
    ])
    func otherServiceDataAreNoValue(uuid: String, hex: String) { #expect(service(uuid, hex) == []) }

    /// Bytes from a seed after the beginnings of the formats, cut anywhere.
    @Test(arguments: ["", "40", "4053", "00EE", "10EE03", "20", "30", "4C000215", "990403", "990405", "990406"])
    func randomBytesNeverTrapAndAreEncodedToTheSame(start: String) throws {
        var generator = ValueGenerator(seed: UInt64(start.count) + 1)
        for _ in 0..<1000 {
            let data = Data(digits: start) + generator.next()
            let values = AdvertisedValue.values(
                serviceData: [EddystoneFrame.service: data, BTHomeAdvertisement.service: data], manufacturerData: data)
            for value in values {
                #expect(!value.description.isEmpty)
                switch value {
                case .btHome(let value):
                    #expect(try BTHomeAdvertisement(decoding: value.encoded) == value, "\(data.hex)")
                case .eddystone(let value):
                    #expect(try EddystoneFrame(decoding: value.encoded) == value, "\(data.hex)")
                case .iBeacon(let value): #expect(value.encoded == data, "\(data.hex)")
                case .ruuvi(let value): #expect(value.encoded == data, "\(data.hex)")
                }
            }
        }
    }

    @Test func allValuesOfAnAdvertisementAreFound() {
        var advertisement = AdvertisedData()
        advertisement.serviceData = [CBUUID(string: "FCD2"): Data(digits: "400161")]
        advertisement.manufacturerData = Data(digits: "99040512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F")
        #expect(advertisement.values.map(\.format) == ["BTHome", "Ruuvi"])
        let dictionary: [String: Any] = [
            CBAdvertisementDataServiceDataKey: advertisement.serviceData,
            CBAdvertisementDataManufacturerDataKey: Data(digits: "9904"),
        ]
        #expect(AdvertisedValue.values(in: dictionary).map(\.format) == ["BTHome"])
    }
}

extension Data {
    /// Reads bytes written without spaces.
    fileprivate init(digits: String) {
        let digits = Array(digits)
        self.init(
            hex: stride(from: 0, to: digits.count, by: 2).map { String(digits[$0...($0 + 1)]) }.joined(separator: " "))
    }
}
