import BluetoothBackend
import Foundation
import Testing

@testable import LiveView

/// The types in which values are edited.
@Suite struct ValueEditorTests {
    private func type(_ uuid: BluetoothUUID, _ value: Data = Data(), format: Data? = nil) -> ValueType {
        ValueType(of: uuid, value: value, format: format)
    }

    @Test func aBatteryLevelIsANumberInPercent() throws {
        let battery = type("2A19")
        let editor = battery.editor(of: Data([87]))
        #expect(editor.kind == .number && editor.number == 87 && editor.unit == "%")
        #expect([editor.minimum, editor.maximum, editor.step] == [0, 100, 1])
        #expect(try battery.bytes(of: 12, in: Data([87])) == Data([12]))
        let error = #expect(throws: LiveError.self) { try battery.bytes(of: 120, in: Data()) }
        #expect(error?.rule == "0 to 100 % is possible")
    }

    @Test func aHeartRateKeepsTheOtherFieldsOfItsMeasurement() throws {
        // Contact, 10 kJ, 72 bpm.
        let present = Data([0x0E, 72, 10, 0])
        let editor = type("2A37").editor(of: present)
        #expect(editor.number == 72 && editor.unit == "bpm")
        #expect(try type("2A37").bytes(of: 80, in: present) == Data([0x0E, 80, 10, 0]))
        #expect(try type("2A37").bytes(of: 300, in: present) == Data([0x0F, 44, 1, 10, 0]))
        #expect(try type("2A37").bytes(of: 80, in: Data()) == Data([0, 80]))
    }

    @Test func aTemperatureIsInTheUnitOfItsMeasurement() throws {
        // 98.6 degrees Fahrenheit.
        let present = Data([0x01, 0xDA, 0x03, 0x00, 0xFF])
        #expect(type("2A1C", present).editor(of: present).number == 98.6)
        #expect(type("2A1C", present).editor(of: present).unit == "°F")
        #expect(try type("2A1C", present).bytes(of: 100.5, in: present) == Data([0x01, 0xED, 0x03, 0x00, 0xFF]))
    }

    @Test func aQuantityHasItsUnitAndResolution() throws {
        let temperature = type("2A6E")
        let editor = temperature.editor(of: Data([0xC4, 0x09]))
        #expect(editor.number == 25 && editor.unit == "°C" && editor.step == 0.01)
        #expect(try temperature.bytes(of: -1.5, in: Data()) == Data([0x6A, 0xFF]))
        // Unknown.
        #expect(temperature.editor(of: Data([0x00, 0x80])).number == nil)
    }

    @Test func anEnumerationIsAChoiceInWords() throws {
        let editor = type("2A38").editor(of: Data([2]))
        #expect(editor.kind == .choice && editor.number == 2)
        #expect(editor.choices?.map(\.text).prefix(3) == ["other", "chest", "wrist"])
        #expect(throws: LiveError.self) { try type("2A38").bytes(of: 9, in: Data()) }
    }

    @Test func aTextIsEditedAsText() {
        #expect(type("2A29").editor(of: Data("Mäker".utf8)).text == "Mäker")
        #expect(type("2A29").editor(of: Data([0xFF])).kind == .text)
        #expect(type("2A29").editor(of: Data([0xFF])).text == nil)
        // Without a layout, printable text is a text.
        #expect(type("FFF1", Data("hello".utf8)).editor(of: Data("hello".utf8)).kind == .text)
    }

    @Test func aByteThatIsZeroOrOneIsASwitch() throws {
        let led: BluetoothUUID = "00001525-1212-EFDE-1523-785FEABCD123"
        #expect(type(led, Data([1])).editor(of: Data([1])) == ValueEditor(kind: .toggle, number: 1))
        #expect(try type(led, Data([1])).bytes(of: 0, in: Data([1])) == Data([0]))
        #expect(throws: LiveError.self) { try type(led, Data([1])).bytes(of: 2, in: Data([1])) }
        #expect(type("FFF1", Data([2])).editor(of: Data([2])).kind == .bytes)
    }

    @Test func thePresentationFormatOfADeviceIsFollowed() throws {
        // sint16 with the exponent -1.
        let format = Data([0x0E, 0xFF, 0x2F, 0x27, 0x01, 0x00, 0x00])
        let number = type("FFF1", format: format)
        #expect(number.editor(of: Data([0xFB, 0xFF])).number == -0.5)
        #expect(try number.bytes(of: 1.2, in: Data()) == Data([12, 0]))
        #expect(type("FFF1", format: Data([0x19, 0, 0, 0x27, 1, 0, 0])).editor(of: Data("a".utf8)).text == "a")
        // A malformed format describes nothing.
        #expect(type("FFF1", Data([5]), format: Data([0x04])).editor(of: Data([5])).kind == .bytes)
    }
}
