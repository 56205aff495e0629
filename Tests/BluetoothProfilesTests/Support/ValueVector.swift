import BluetoothProfiles
import Foundation
import Testing

/// The bytes of a value, and their meaning; encoding yields the same bytes.
struct ValueVector: CustomTestStringConvertible, Sendable {
    let uuid: UInt16
    let hex: String
    let text: String
    let source: String

    init(_ uuid: UInt16, _ hex: String, _ text: String, _ source: String) {
        self.uuid = uuid
        self.hex = hex
        self.text = text
        self.source = source
    }

    var testDescription: String { "\(String(uuid, radix: 16, uppercase: true)) \(hex): \(text) (\(source))" }

    static let services = "layout of the service's specification"
    static let supplement = "GATT Specification Supplement, the characteristic's example"
    static let transcoding = "White Paper Personal Health Devices Transcoding v16"

    static let all = [
        ValueVector(0x2A37, "00 48", "72 bpm", services),
        ValueVector(0x2A37, "01 2C 01", "300 bpm", services),
        ValueVector(0x2A37, "04 48", "72 bpm, no skin contact", services),
        ValueVector(0x2A37, "1E 48 0A 00 00 04 66 03", "72 bpm, skin contact, 10 kJ, RR 1.000 0.850 s", services),
        ValueVector(0x2A38, "05", "ear lobe", services),
        ValueVector(0x2A39, "01", "reset energy expended", "Heart Rate Service 1.0, 3.3.1"),
        ValueVector(0x2A19, "63", "99 %", "GATT Specification Supplement, Battery Level: 0x63 is 99 percent"),
        // OUI 0x123456 and company assigned identifier 0x9ABCDE are System ID 0x123456FFFE9ABCDE.
        ValueVector(0x2A23, "DE BC 9A FE FF 56 34 12", "organization 123456, device FFFE9ABCDE", supplement),
        ValueVector(
            0x2A50, "01 0F 00 01 00 13 02", "Bluetooth vendor 000F, product 0001, version 2.1.3",
            "GATT Specification Supplement, PnP ID: 0x0213 is version 2.1.3"),
        ValueVector(0x2A50, "02 6B 1D 46 02 42 05", "USB vendor 1D6B, product 0246, version 5.4.2", services),
        ValueVector(0x2BFF, "03 41 00 42 43 00", "label A, device BC", services),
        ValueVector(0x2BFF, "0C 31 2E 32 00 C3 A4 00", "issuer 1.2, authority ä", services),
        ValueVector(0x2BFF, "00", "nothing", services),
        ValueVector(0x2A2A, "00 01 02 03", "4 bytes", services),
        ValueVector(0x2A09, "07", "Sunday", services),
        ValueVector(0x2A29, "4D 61 6B 65 72", "Maker", services),
        // 0xFF00016C is 364 times ten to the -1.
        ValueVector(0x2A1C, "00 6C 01 00 FF", "36.4 °C", transcoding),
        ValueVector(0x2A1C, "05 D7 03 00 FF 02", "98.3 °F, body", services),
        ValueVector(
            0x2A1C, "06 6C 01 00 FF E8 07 02 1D 09 05 07 03", "36.4 °C, 2024-02-29 09:05:07, ear", services),
        ValueVector(0x2A1E, "00 FF FF 7F 00", "not a number °C", transcoding),
        ValueVector(0x2A1D, "05", "gastro-intestinal tract", services),
        ValueVector(0x2A21, "0A 00", "10 s", services),
        ValueVector(0x2A21, "00 00", "no periodic measurement", services),
        ValueVector(0x2A08, "00 00 00 00 17 3B 3B", "0000-00-00 23:59:59", services),
        ValueVector(0x2A2B, "E8 07 02 1D 09 05 07 04 80 01", "Thursday 2024-02-29 09:05:07", services),
        ValueVector(0x2A0F, "04 04", "UTC+1:00, daylight saving 1:00", services),
        ValueVector(0x2A0F, "EE 00", "UTC-4:30", services),
        ValueVector(0x2A0F, "80 FF", "zone not known, daylight saving not known", services),
        ValueVector(0x2A14, "01 01 01 02", "Network Time Protocol, updated 1 d 2 h ago", services),
        ValueVector(0x2A14, "04 FF FF FF", "manual, updated long ago", services),
        ValueVector(
            0x2A5B, "03 0A 00 00 00 00 04 05 00 00 02", "wheel 10 turns at 1.000 s, crank 5 turns at 0.500 s", services),
        ValueVector(0x2A5B, "00", "no data", services),
        ValueVector(
            0x2A5C, "07 00", "wheel revolutions, crank revolutions, multiple sensor locations", services),
        ValueVector(0x2A5D, "04", "front wheel", services),
        ValueVector(0x2A53, "00 80 02 50", "2.50 m/s, 80 steps/min, walking", services),
        ValueVector(
            0x2A53, "07 80 02 50 5A 00 64 00 00 00", "2.50 m/s, 80 steps/min, stride 0.90 m, 10.0 m, running", services),
        ValueVector(0x2A54, "05 00", "stride length, walking or running", services),
        ValueVector(0x2A63, "00 00 F4 01", "500 W", services),
        ValueVector(
            0x2A63, "30 00 F4 01 02 00 00 00 00 08 01 00 00 04",
            "500 W, wheel 2 turns at 1.000 s, crank 1 turns at 1.000 s",
            services),
        ValueVector(0x2A6C, "9C FF FF", "-1.00 m", services),
        ValueVector(0x2A6D, "35 77 0F 00", "1013.557 hPa", services),
        ValueVector(0x2A6E, "9C FF", "-1.00 °C", services),
        ValueVector(0x2A6E, "00 80", "not known", services),
        ValueVector(0x2A6F, "94 11", "45.00 %", services),
        ValueVector(0x2A6F, "FF FF", "not known", services),
        ValueVector(0x2A71, "9F 8C", "359.99 °", services),
        ValueVector(0x2A74, "0F", "1.5", services),
        ValueVector(0x2A75, "01 00 01", "65537 /m³", services),
        ValueVector(0x2A79, "F6", "-10 °C", services),
        ValueVector(0x2AA0, "C9 00 E2 FF", "20.1 -3.0 µT", services),
        ValueVector(0x2AA1, "C9 00 E2 FF 01 00", "20.1 -3.0 0.1 µT", services),
        ValueVector(0x2AA3, "09", "steady", services),
        ValueVector(
            0x290C, "00 00 02 3C 00 00 2C 01 00 02 01", "mean of 60 s, updated each 300 s, uncertainty 0.5 %", services),
        ValueVector(0x290B, "01", "any condition", services),
        ValueVector(0x290D, "00", "inactive", services),
        ValueVector(0x290D, "01 3C 00 00", "each 60 s", services),
        ValueVector(0x290D, "02 FF FF FF", "at most each 16777215 s", services),
        ValueVector(0x290D, "03", "when the value changed", services),
        ValueVector(0x290D, "06 66 08", "while > 2 bytes", services),
        ValueVector(0x2A01, "41 03", "Heart Rate Belt (0x0341)", "Assigned Numbers, 2.6.3"),
        ValueVector(0x2A01, "7F 03", "Heart Rate Sensor (0x037F)", "Assigned Numbers, 2.6.2"),
        ValueVector(0x2A01, "C0 FF", "0xFFC0", "Assigned Numbers, 2.6"),
        ValueVector(
            0x2A04, "06 00 0C 00 00 00 C8 00", "interval 7.50 ms to 15.00 ms, latency 0, timeout 2000 ms",
            "Core Specification, Vol 3, Part C, 12.3"),
        ValueVector(
            0x2A04, "FF FF 0C 00 01 00 FF FF", "interval any to 15.00 ms, latency 1, timeout any",
            "Core Specification, Vol 3, Part C, 12.3"),
        ValueVector(0x2A06, "02", "high alert", services),
        ValueVector(0x2A07, "FC", "-4 dBm", services),
        ValueVector(0x2902, "03 00", "notifications and indications", "Core Specification, Vol 3, Part G, 3.3.3.3"),
        ValueVector(
            0x2904, "04 FF 2F 27 01 00 00", "uint8, exponent -1, unit 272F",
            "Core Specification, Vol 3, Part G, 3.3.3.5"),
    ]
}
