import BluetoothBackend
import FoundationEssentials
import Testing

struct BluetoothUUIDTests {
    private let long = "0000180D-0000-1000-8000-00805F9B34FB"

    @Test func theWidthsOfOneUUIDAreEqualAndHashAlike() throws {
        let forms = [
            BluetoothUUID(0x180D), BluetoothUUID(bits32: 0x180D), try #require(BluetoothUUID(long)),
            try #require(BluetoothUUID(long.lowercased())),
        ]
        #expect(Set(forms).count == 1)
        #expect(forms.map(\.text) == ["180D", "0000180D", long, long])
        #expect(forms.map(\.width) == [.bits16, .bits32, .bits128, .bits128])
        #expect(forms.allSatisfy { $0.bits16 == 0x180D })
    }

    @Test(arguments: [
        ("180d", "180D"), ("0x180D", "180D"), ("0X2a37", "2A37"), ("0000180D", "0000180D"),
        ("00001523-1212-efde-1523-785feabcd123", "00001523-1212-EFDE-1523-785FEABCD123"),
    ])
    func textIsReadInEachForm(_ text: String, _ expected: String) {
        #expect(BluetoothUUID(text)?.text == expected)
    }

    @Test(arguments: [
        "", "18", "180", "180G", "18-D", "180D0", "+80D", "-1234567", "0x", "0x0000180D-0000-1000-8000-00805F9B34FB",
        "0000180D00001000800000805F9B34FB", "0000180D-0000-1000-8000-00805F9B34F",
        "0000180-D0000-1000-8000-00805F9B34FB",
        "0000180D-0000-1000-8000-00805F9B34FG", "----0000000000000000000000000000000000", "１８０Ｄ",
    ])
    func otherTextIsNoUUID(_ text: String) {
        #expect(BluetoothUUID(text) == nil)
    }

    @Test func bytesAreMostSignificantFirst() throws {
        #expect(BluetoothUUID(bigEndian: [0x18, 0x0D]) == "180D")
        #expect(BluetoothUUID(bigEndian: [0x12, 0x34, 0x56, 0x78])?.text == "12345678")
        let uuid = try #require(BluetoothUUID(long))
        #expect(BluetoothUUID(bigEndian: uuid.bigEndianBytes)?.text == long)
        #expect(uuid.bigEndianBytes.prefix(4) == [0, 0, 0x18, 0x0D])
        #expect(BluetoothUUID(0x2A37).bigEndianBytes == [0x2A, 0x37])
    }

    @Test(arguments: [0, 1, 3, 5, 15, 17])
    func otherCountsOfBytesAreNoUUID(_ count: Int) {
        #expect(BluetoothUUID(bigEndian: [UInt8](repeating: 0, count: count)) == nil)
    }

    @Test func thePartsAreWordsOf64Bits() {
        #expect(MemoryLayout<BluetoothUUID>.size == 17)
        #expect(MemoryLayout<BluetoothUUID>.alignment == MemoryLayout<UInt64>.alignment)
        #expect(MemoryLayout<BluetoothUUID?>.size == 17)
    }

    /// The values are not arguments of the test, which would pass through async functions; see the type's comment.
    @Test func a128BitValueComesBackFromEachForm() throws {
        let values: [UInt128] = [
            .min, .max, 1, 1 << 63, 1 << 64, 1 << 127, 0x1122_3344_5566_7788_99AA_BBCC_DDEE_FF00,
            0x0000_180D_0000_1000_8000_0080_5F9B_34FB,
        ]
        for value in values { try expectInEachForm(value) }
    }

    private func expectInEachForm(_ value: UInt128) throws {
        let uuid = BluetoothUUID(value: value)
        #expect(uuid.value == value)
        #expect(uuid.width == .bits128)
        #expect(uuid.bigEndianBytes == (0..<16).map { UInt8(truncatingIfNeeded: value >> (120 - 8 * $0)) })
        #expect(BluetoothUUID(uuid.text)?.value == value)
        #expect(BluetoothUUID(bigEndian: uuid.bigEndianBytes)?.value == value)
        #expect(BluetoothUUID(try #require(UUID(uuidString: uuid.text))).value == value)
        #expect(try JSONDecoder().decode(BluetoothUUID.self, from: JSONEncoder().encode(uuid)).value == value)
    }

    @Test func anArgumentOfAnAsyncFunctionArrivesUnchanged() async throws {
        let uuid = BluetoothUUID(value: 0x1122_3344_5566_7788_99AA_BBCC_DDEE_FF00)
        #expect(await textBeforeSuspension(uuid) == "11223344-5566-7788-99AA-BBCCDDEEFF00")
        #expect(await textAfterSuspension(uuid) == "11223344-5566-7788-99AA-BBCCDDEEFF00")
    }

    private func textBeforeSuspension(_ uuid: BluetoothUUID) async -> String { uuid.text }

    private func textAfterSuspension(_ uuid: BluetoothUUID) async -> String {
        await Task.yield()
        return uuid.text
    }

    @Test func aFoundationUUIDKeepsItsBytes() throws {
        let uuid = try #require(UUID(uuidString: "00001523-1212-EFDE-1523-785FEABCD123"))
        #expect(BluetoothUUID(uuid).text == uuid.uuidString)
        #expect(BluetoothUUID(uuid).bits16 == nil)
    }

    @Test func a32BitUUIDBeyond16BitsHasNoShortForm() {
        #expect(BluetoothUUID(bits32: 0x0001_180D).bits16 == nil)
    }

    @Test func orderIsThatOfThe128BitValue() {
        let sorted: [BluetoothUUID] = ["2A37", "180D", "0000180F"].sorted()
        #expect(sorted == ["180D", "180F", "2A37"])
    }

    @Test func jsonIsTheText() throws {
        let data = try JSONEncoder().encode([BluetoothUUID(0x180D)])
        #expect(String(decoding: data, as: UTF8.self) == "[\"180D\"]")
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([BluetoothUUID].self, from: Data("[\"18\"]".utf8))
        }
    }
}
