import CoreBluetoothClasses
import Testing

@Suite struct UUIDTests {
    private static let heartRateLong = "0000180D-0000-1000-8000-00805F9B34FB"

    @Test(
        arguments: [
            ("180D", [0x18, 0x0D]), ("180d", [0x18, 0x0D]), ("0000180D", [0, 0, 0x18, 0x0D]),
            ("12345678", [0x12, 0x34, 0x56, 0x78]),
            (
                "6e400001-B5A3-F393-E0A9-E50E24DCCA9E",
                [
                    0x6E, 0x40, 0x00, 0x01, 0xB5, 0xA3, 0xF3, 0x93, 0xE0, 0xA9, 0xE5, 0x0E, 0x24, 0xDC, 0xCA, 0x9E,
                ]
            ),
        ] as [(String, [UInt8])])
    func U1_U4_textIsReadInThreeWidthsAndDataIsBigEndian(text: String, bytes: [UInt8]) {
        #expect(CBUUID(string: text).data == Data(bytes))
    }

    @Test(arguments: [
        ("0xA000", "A000"), ("0XA000", "A000"), ("0x12345678", "12345678"),
        ("0x6BA1B218-15A8-461F-9FA8-5DCAE273EAFD", "6BA1B218-15A8-461F-9FA8-5DCAE273EAFD"),
    ])
    func U2_leadingZeroXIsDropped(text: String, digits: String) {
        #expect(CBUUID(string: text).uuidString == digits)
    }

    @Test(arguments: [2, 4, 16])
    func U3_dataOfTwoFourOrSixteenBytesIsKept(count: Int) {
        let data = Data((1...count).map { UInt8($0) })
        #expect(CBUUID(data: data).data == data)
    }

    @Test func U3_aSliceOfDataIsReadFromItsOwnBeginning() {
        #expect(CBUUID(data: Data([0xFF, 0x18, 0x0D]).dropFirst()).uuidString == "180D")
    }

    @Test(arguments: [
        ("180d", "180D"), ("0000180d", "0000180D"), (heartRateLong.lowercased(), heartRateLong),
    ])
    func U5_uuidStringIsUpperCaseInTheWidthOfCreation(text: String, expected: String) {
        #expect(CBUUID(string: text).uuidString == expected)
    }

    @Test func U6_equalityAndHashAreThoseOfTheLongForm() {
        let widths = ["180D", "0000180D", Self.heartRateLong].map { CBUUID(string: $0) }
        #expect(Set(widths).count == 1)
        #expect(Set(widths.map(\.hash)).count == 1)
        #expect(widths[0].isEqual(widths[2]))
        #expect(widths[0] == widths[1])
        let data: [CBUUID: Int] = [widths[0]: 1]
        #expect(data[widths[2]] == 1)
    }

    @Test func U6_anotherTailOrAnotherClassIsNotEqual() {
        let uuid = CBUUID(string: "180D")
        #expect(uuid != CBUUID(string: "0000180D-0000-1000-8000-00805F9B34FC"))
        #expect(uuid != CBUUID(string: "180F"))
        #expect(!uuid.isEqual("180D"))
        #expect(!uuid.isEqual(nil))
    }

    @Test func U7_aFoundationUUIDKeepsItsByteOrder() throws {
        let uuid = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
        #expect(CBUUID(nsuuid: uuid).uuidString == uuid.uuidString)
        #expect(CBUUID(nsuuid: uuid).data.first == 0x00)
        #expect(CBUUID(nsuuid: uuid).data.last == 0xFF)
    }

    @Test(arguments: [
        ("180A", "Device Information"), ("180D", "Heart Rate"), ("180F", "Battery"), ("1805", "Current Time"),
        ("2A23", "System ID"), ("2A24", "Model Number String"), ("0000180F", "Battery"),
        ("D0611E78-BBB4-4591-A5F8-487910AE4366", "Continuity"),
        ("1802", "1802"), ("1803", "1803"), ("1811", "1811"), ("FFE0", "FFE0"),
    ])
    func U8_descriptionNamesWhatApplesNames(text: String, description: String) {
        #expect(CBUUID(string: text).description == description)
        #expect("\(CBUUID(string: text))" == description)
    }

    @Test func copiesAreEqual() {
        let uuid = CBUUID(string: "180D")
        #expect(uuid.copy() as? CBUUID == uuid)
    }
}
