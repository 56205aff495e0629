import BluetoothEmulator
import BluetoothRecording
import Foundation
import Testing

@Suite struct RedactionTests {
    private let redaction = Redaction(address: "C0:DE:00:00:18:0D", by: "FF:EE:DD:CC:BB:AA")

    @Test func theAddressIsReplacedInBothOrdersOfItsBytes() {
        let value = Data([0x4C, 0xC0, 0xDE, 0, 0, 0x18, 0x0D, 0x01, 0x0D, 0x18, 0, 0, 0xDE, 0xC0])
        let expected = Data([0x4C, 0xFF, 0xEE, 0xDD, 0xCC, 0xBB, 0xAA, 1, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF])
        #expect(redaction.redacted(value) == expected)
    }

    @Test(arguments: [
        ("id C0:DE:00:00:18:0D.", "id FF:EE:DD:CC:BB:AA."), ("c0:de:00:00:18:0d", "ff:ee:dd:cc:bb:aa"),
        ("C0DE0000180D", "FFEEDDCCBBAA"), ("xc0de0000180dx", "xffeeddccbbaax"),
        ("C0:DE:00:00:18:0E", "C0:DE:00:00:18:0E"),
    ])
    func theAddressIsReplacedInText(text: String, expected: String) {
        #expect(redaction.redacted(Data(text.utf8)) == Data(expected.utf8))
    }

    @Test func aSerialNumberKeepsItsLengthAndShape() {
        #expect(redaction.redacted(Data("SN-12ab é".utf8), of: "2A25") == Data("AA-00aa AA".utf8))
    }

    @Test func aSystemIDIsZero() {
        #expect(redaction.redacted(Data([1, 2, 3]), of: "2A23") == Data([0, 0, 0]))
    }

    @Test func otherValuesAreLeftAsTheyAre() {
        #expect(redaction.redacted(Data("SN-12".utf8), of: "2A24") == Data("SN-12".utf8))
        #expect(Redaction(address: nil, by: "FF:EE:DD:CC:BB:AA").redacted(Data([1, 2])) == Data([1, 2]))
    }
}
