#if os(Linux)
import Testing

@testable import BlueZ

@Suite struct ChannelAddressTests {
    @Test func anAddressIsTheKernelsStructureByteForByte() throws {
        let address = try #require(L2CAPAddress("F0:E1:D2:C3:B4:A5", isRandom: true, psm: 0x0192))
        let family: [UInt8] = UInt16(1).littleEndian == 1 ? [31, 0] : [0, 31]
        // sa_family_t, the PSM in little-endian order, the reversed address, no channel, LE random, padding.
        #expect(
            address.bytes == family + [0x92, 0x01, 0xA5, 0xB4, 0xC3, 0xD2, 0xE1, 0xF0, 0, 0, 2, 0])
        #expect(address.bytes.count == L2CAPAddress.size)
    }

    @Test func aPublicAddressIsOfTypeOne() throws {
        #expect(try #require(L2CAPAddress("00:11:22:33:44:55", isRandom: false)).bytes[12] == 1)
    }

    @Test func whatTheKernelFillsInIsReadBack() throws {
        for isRandom in [false, true] {
            let address = try #require(L2CAPAddress("00:1A:02:33:44:FF", isRandom: isRandom, psm: 0x80))
            let read = try #require(L2CAPAddress(address.bytes))
            #expect(read == address)
            #expect(read.text == "00:1A:02:33:44:FF")
            // The kernel omits the padding.
            #expect(L2CAPAddress(Array(address.bytes.dropLast())) == address)
        }
    }

    @Test func whatIsNoAddressIsRefused() throws {
        for text in ["", "00:11:22:33:44", "00:11:22:33:44:55:66", "0:11:22:33:44:55", "GG:11:22:33:44:55"] {
            #expect(L2CAPAddress(text, isRandom: false) == nil)
        }
        let bytes = try #require(L2CAPAddress("00:11:22:33:44:55", isRandom: false)).bytes
        #expect(L2CAPAddress([]) == nil)
        #expect(L2CAPAddress(Array(bytes[..<12])) == nil)
        // Another family, and classic Bluetooth.
        #expect(L2CAPAddress([2, 2] + bytes[2...]) == nil)
        #expect(L2CAPAddress(bytes[..<12] + [0, 0]) == nil)
    }
}
#endif
