import CoreBluetoothClasses
import Testing

@testable import bluectl

struct AttributeTextTests {
    @Test func aStandardValueIsDecoded() {
        #expect(AttributeText.value(Data([0, 72]), of: CBUUID(string: "2A37")) == "0048 (72 bpm)")
        #expect(AttributeText.value(Data("Maker".utf8), of: CBUUID(string: "2A29")) == "4D616B6572 (\"Maker\")")
        #expect(AttributeText.value(Data("a\u{1B}b".utf8), of: CBUUID(string: "2A29")) == "611B62 (\"a\u{FFFD}b\")")
        #expect(AttributeText.value(Data([1, 2]), of: CBUUID(string: "2A2A")) == "0102")
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
