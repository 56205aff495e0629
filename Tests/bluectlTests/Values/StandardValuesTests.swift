import CoreBluetoothPackage
import Testing

@testable import bluectl

struct StandardValuesTests {
    struct Sample: CustomTestStringConvertible, Sendable {
        let uuid: UInt16
        let bytes: [UInt8]
        let text: String?
        var testDescription: String { "\(Decimals.hex(uuid, width: 4)) \(bytes) \(text ?? "malformed")" }

        init(_ uuid: UInt16, _ bytes: [UInt8], _ text: String?) {
            self.uuid = uuid
            self.bytes = bytes
            self.text = text
        }
    }

    static let samples = [
        Sample(0x2A00, Array("Contract Peer".utf8), "\"Contract Peer\""),
        Sample(0x2A29, Array("Maker\0".utf8), "\"Maker\""),
        Sample(0x2A29, [0xFF, 0xFE], nil),
        Sample(0x2A01, [0x41, 0x03], "heart rate sensor (0x0341)"),
        Sample(0x2A01, [0xC0, 0xFF], "0xFFC0"),
        Sample(0x2A01, [0x41], nil),
        Sample(0x2A04, [6, 0, 12, 0, 0, 0, 200, 0], "interval 7.50 ms to 15.00 ms, latency 0, timeout 2000 ms"),
        Sample(0x2A04, [0xFF, 0xFF, 12, 0, 1, 0, 0xFF, 0xFF], "interval any to 15.00 ms, latency 1, timeout any"),
        Sample(0x2A06, [2], "high alert"),
        Sample(0x2A06, [3], nil),
        Sample(0x2A07, [0xFC], "-4 dBm"),
        Sample(0x2A07, [], nil),
        Sample(0x2A08, [0xE8, 0x07, 2, 29, 9, 5, 7], "2024-02-29 09:05:07"),
        Sample(0x2A08, [0xE8, 0x07, 13, 29, 9, 5, 7], nil),
        Sample(0x2A19, [87], "87 %"),
        Sample(0x2A19, [101], nil),
        Sample(0x2A19, [87, 0], nil),
        Sample(0x2A1C, [0x00, 0x6C, 0x01, 0x00, 0xFF], "36.40 °C"),
        Sample(0x2A1C, [0x05, 0xD7, 0x03, 0x00, 0xFF, 2], "98.30 °F, body"),
        Sample(
            0x2A1C, [0x06, 0x6C, 0x01, 0x00, 0xFF, 0xE8, 0x07, 2, 29, 9, 5, 7, 3], "36.40 °C, 2024-02-29 09:05:07, ear"),
        Sample(0x2A1C, [0x00, 0xFF, 0xFF, 0x7F, 0x00], nil),
        Sample(0x2A1C, [0x00, 0x6C], nil),
        Sample(0x2A1D, [5], "gastro-intestinal tract"),
        Sample(0x2A1D, [0], nil),
        Sample(0x2A23, [1, 2, 3, 4, 5, 6, 7, 8], "organization 080706, device 0504030201"),
        Sample(0x2A2B, [0xE8, 0x07, 2, 29, 9, 5, 7, 4, 0, 0], "Thursday 2024-02-29 09:05:07"),
        Sample(0x2A2B, [0xE8, 0x07, 2, 29, 9, 5, 7, 8, 0, 0], nil),
        Sample(0x2A38, [1], "chest"),
        Sample(0x2A38, [5], "ear lobe"),
        Sample(0x2A38, [7], nil),
        Sample(0x2A50, [2, 0x6B, 0x1D, 0x46, 0x02, 0x42, 0x05], "USB vendor 1D6B, product 0246, version 05.4.2"),
        Sample(0x2A53, [0x00, 0x80, 0x02, 80], "2.50 m/s, 80 steps/min, walking"),
        Sample(
            0x2A53, [0x07, 0x80, 0x02, 80, 90, 0, 100, 0, 0, 0],
            "2.50 m/s, 80 steps/min, stride 0.90 m, 10.0 m, running"),
        Sample(0x2A53, [0x01, 0x80, 0x02, 80], nil),
        Sample(
            0x2A5B, [0x03, 10, 0, 0, 0, 0, 4, 5, 0, 0, 2], "wheel 10 turns at 1.000 s, crank 5 turns at 0.500 s"),
        Sample(0x2A5B, [0x01, 10], nil),
        Sample(0x2A5B, [0x00], nil),
        Sample(0x2A5D, [4], "front wheel"),
        Sample(0x2A5D, [17], nil),
        Sample(0x2A63, [0x00, 0x00, 0xF4, 0x01, 9, 9], "500 W"),
        Sample(0x2A6D, [0x35, 0x77, 0x0F, 0x00], "1013.557 hPa"),
        Sample(0x2A6E, [0x9C, 0xFF], "-1.00 °C"),
        Sample(0x2A6E, [0x00, 0x80], nil),
        Sample(0x2A6F, [0x94, 0x11], "45.00 %"),
        Sample(0x2A6F, [0x11, 0x27], nil),
        Sample(0x2901, Array("described".utf8), "\"described\""),
        Sample(0x2902, [3, 0], "notifications and indications"),
        Sample(0x2904, [0x04, 0x00, 0x00, 0x27, 0x01, 0x00, 0x00], "uint8, exponent 0, unit 2700"),
        Sample(0x2904, [0x04, 0xFF, 0x2F, 0x27, 0x01, 0x00, 0x00], "uint8, exponent -1, unit 272F"),
        Sample(0xFFFF, [1], nil),
    ]

    @Test(arguments: samples)
    func eachCharacteristicHasItsLayout(sample: Sample) {
        #expect(StandardValues.text(of: sample.uuid, Data(sample.bytes)) == sample.text)
    }

    @Test func noDecoderTrapsOnAnyShortValue() {
        for uuid in Set(Self.samples.map(\.uuid)) {
            for length in 0...24 {
                for filler: UInt8 in [0x00, 0x01, 0x7F, 0x80, 0xFF] {
                    let text = StandardValues.text(of: uuid, Data(repeating: filler, count: length))
                    #expect(text?.contains("\n") != true)
                }
            }
        }
    }

    @Test func aSliceIsReadFromItsOwnStart() {
        #expect(StandardValues.text(of: 0x2A19, Data([0, 0, 87])[2...]) == "87 %")
        #expect(StandardValues.text(of: 0x2A37, Data([9, 0, 72])[1...]) == "72 bpm")
    }

    @Test func aValueWithoutADecoderIsHexWithTextWherePrintable() {
        let uuid = CBUUID(string: "FFE1")
        #expect(AttributeText.value(Data([1, 2]), of: uuid) == "0102")
        #expect(AttributeText.value(Data("hello".utf8), of: uuid) == "68656C6C6F (\"hello\")")
        #expect(AttributeText.value(Data(), of: uuid) == "empty")
        #expect(AttributeText.value(Data([200]), of: CBUUID(string: "2A19")) == "C8")
    }

    @Test func namesStandBeforeStandardUUIDs() {
        #expect(AttributeText.label("180D") == "Heart Rate 180D")
        #expect(AttributeText.label("FFE0") == "FFE0")
    }
}
